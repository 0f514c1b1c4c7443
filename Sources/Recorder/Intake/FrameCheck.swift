import Codecs
import Media

/// Decodes frames, to know whether they can be; all of them, as long as the participant's pictures keep to a budget.
final class FrameCheck {
  private var picture: VP8Decoder?
  private var sound: OpusDecoder?
  private(set) var videoErrors: UInt64 = 0
  private(set) var audioErrors: UInt64 = 0
  /// Pictures that were not decoded, because they cost too much, or built on one that did.
  private(set) var unverified: UInt64 = 0
  private var budget = VerificationBudget()
  /// Whether only a keyframe can be decoded now.
  private var needsKeyframe = false
  /// The size of the last keyframe that was decoded or left out.
  private var size: PictureSize?
  /// The size of the last picture that was decoded.
  private(set) var lastSize: PictureSize?

  /// Takes the next frame of a track in decoding order.
  ///
  /// - Returns: whether it could be decoded.
  func examine(_ frame: EncodedFrame) -> Bool {
    do {
      switch frame.codec {
      case .vp8:
        guard isAffordable(frame) else {
          unverified += 1
          return false
        }
        let decoder = try picture ?? VP8Decoder()
        picture = decoder
        lastSize = try decoder.decode(frame.payload) ?? lastSize
      case .opus:
        let decoder = try sound ?? OpusDecoder()
        sound = decoder
        _ = try decoder.decode(frame.payload)
      }
      return true
    } catch {
      if frame.codec.kind == .video { videoErrors += 1 } else { audioErrors += 1 }
      return false
    }
  }

  private func isAffordable(_ frame: EncodedFrame) -> Bool {
    if frame.isKeyframe { size = frame.size ?? size }
    if needsKeyframe && !frame.isKeyframe { return false }
    needsKeyframe = size.map { !budget.spend(on: $0, now: frame.arrival) } ?? false
    return !needsKeyframe
  }
}
