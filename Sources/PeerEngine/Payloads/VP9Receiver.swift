import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable VP9 pictures from a source's packets in order.
///
/// It changes a received frame in one way only: of a picture with spatial layers, the lower ones are marked as not shown (see
/// `VP9Superframe.hideLowerLayers(references:)`).
package struct VP9Receiver: VideoReceiver {
  package var frames = DecodableFrameAssembler<VP9FrameAssembler, VP9DecodabilityTracker>(VP9FrameAssembler())
  /// The sizes of the references of a decoder of the frames emitted so far.
  private var references = VP9ReferenceSizes()

  /// Its descriptions have no parameter sets.
  package init(parameterSets: [ByteBuffer] = []) {}

  /// Hides the lower layers.
  package mutating func prepare(_ frame: inout VP9FrameAssembler.Frame) {
    guard var superframe = try? VP9Superframe(parsing: frame.payload) else { return }
    let output = superframe.hideLowerLayers(references: &references)
    // VP9 changes its size without a keyframe, too.
    frame.header = VideoHeader(
      isKeyframe: frame.dependency.isKeyframe,
      size: output.size.map { VideoSize(width: $0.width, height: $0.height) } ?? frame.size,
      isShown: frame.header?.isShown ?? true, hiddenLayers: output.hiddenFrames)
    guard output.hiddenFrames > 0 else { return }
    frame.payload = ByteBuffer()
    frame.payload.reserveCapacity(superframe.maximumByteCount)
    superframe.write(into: &frame.payload)
  }

  /// Returns what is known of a usable keyframe that a payload begins; nil if it begins none.
  ///
  /// With spatial layers, the keyframe itself has only the lowest one. Then the size is that of the highest layer, if the
  /// scalability structure states it.
  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    // Nine packets in ten are decided by their first byte: no B bit, or predicted from other pictures.
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x48 == 0x08 else {
      return nil
    }
    var data = payload
    guard let descriptor = try? VP9PayloadDescriptor(parsing: &data), descriptor.startsPicture,
      let lowest = VP9FrameAssembler.keyframeSize(in: data)
    else { return nil }
    let limit = UInt16(FrameLimits.maximumSide)
    guard let highest = descriptor.structure?.sizes?.last, (1...limit).contains(highest.width),
      (1...limit).contains(highest.height)
    else { return .init(size: lowest) }
    return .init(size: VideoSize(width: Int(highest.width), height: Int(highest.height)))
  }

  /// Returns whether a payload begins a picture of any kind.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x08 != 0 else {
      return false
    }
    // Without layer indices there is only one frame in a picture.
    guard first & 0x20 != 0 else { return true }
    var data = payload
    return (try? VP9PayloadDescriptor(parsing: &data))?.startsPicture ?? false
  }
}
