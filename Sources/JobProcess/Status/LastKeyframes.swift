internal import Codecs
internal import FoundationEssentials
internal import JobProtocol
internal import Media
internal import MediaWorker
internal import NIOCore
internal import Synchronization

/// The last keyframe of each video stream, as it was received, from which a snapshot is made: nothing is decoded before somebody asks.
///
/// Of a user who is paused none is kept, and none that may have been sent while they were.
final class LastKeyframes: Sendable {
  private struct Key: Hashable, Sendable {
    var user: ParticipantID
    var stream: Int
  }

  private struct State: Sendable {
    var frames: [Key: EncodedFrame] = [:]
    var bytes = 0
    /// From when on frames of a user may be kept, where that changed lately.
    var allowedFrom: [ParticipantID: MonotonicInstant] = [:]
    /// The same for everybody; nil before the first change of everybody.
    var allAllowedFrom: MonotonicInstant?

    mutating func forget(_ user: ParticipantID) {
      for (key, frame) in frames where key.user == user {
        frames[key] = nil
        bytes -= frame.payload.readableBytes
      }
    }
  }

  /// The maximum bytes of all frames.
  private static let maximumBytes = 16 << 20
  private static let maximumFrameBytes = 1 << 20
  /// A frame that arrives so long after a pause cannot be of it: a missing packet is given up earlier.
  static let margin = Duration.seconds(4)
  /// The maximum width and height of a snapshot.
  static let maximumWidth = 320
  static let maximumHeight = 320

  private let state = Mutex(State())

  /// Keeps a keyframe of a user who is not paused. Returns at once.
  func note(_ frame: EncodedFrame, of user: ParticipantID) {
    state.withLock { state in
      if let from = state.allowedFrom[user], frame.arrived < from { return }
      if let from = state.allAllowedFrom, frame.arrived < from { return }
      let key = Key(user: user, stream: frame.stream)
      state.bytes -= state.frames.removeValue(forKey: key)?.payload.readableBytes ?? 0
      let count = frame.payload.readableBytes
      guard count <= Self.maximumFrameBytes, state.bytes + count <= Self.maximumBytes else { return }
      state.frames[key] = frame
      state.bytes += count
    }
  }

  /// Forgets the frames of a user who has left.
  func forget(_ user: ParticipantID) { state.withLock { $0.forget(user) } }

  /// Forgets the frames of everybody who is paused, and keeps none of those who were until some time has passed.
  ///
  /// - Parameter changed: the users who were paused or resumed; nil for everybody.
  func pausesChanged(of changed: [ParticipantID]?, now: MonotonicInstant) {
    state.withLock { state in
      if changed == nil { state.allAllowedFrom = now + Self.margin }
      for user in changed ?? Array(Set(state.frames.keys.map(\.user))) {
        state.forget(user)
        state.allowedFrom[user] = now + Self.margin
      }
      state.allowedFrom = state.allowedFrom.filter { $0.value > now }
    }
  }

  /// The last keyframe of a stream; nil if there is none.
  func last(of user: ParticipantID, stream: Int) -> EncodedFrame? {
    state.withLock { $0.frames[Key(user: user, stream: stream)] }
  }

  /// Decodes a keyframe, and scales it. It takes some milliseconds, and waits for another process for some codecs.
  static func snapshot(of frame: EncodedFrame, time: Int64) throws(ControlError) -> Snapshot {
    guard VideoDecoder.accepts(frame.size) else { throw ControlError(.notFound, "The frame is too large.") }
    do throws(CodecError) {
      let decoder = try VideoDecoder(frame.codec, in: MediaWorker(.background), prefersWorker: true)
      guard let image = try decoder.decode(frame.payload, { $0.copy }) else {
        throw CodecError("decode a frame", "it is not to be shown")
      }
      let small = try image.scaled(to: size(of: image.size))
      guard let png = PNGImage.bytes(of: small) else { throw CodecError("write a PNG", "a plane is missing") }
      return Snapshot(time: time, width: small.size.width, height: small.size.height, png: Data(png))
    } catch {
      throw ControlError(.failed, "The frame cannot be decoded: \(error)")
    }
  }

  /// The size of the snapshot of an image: even sides, as wide as is allowed at most.
  static func size(of image: VideoSize) -> VideoSize {
    let width = max(1, image.width)
    let height = max(1, image.height)
    let scale = min(1, Double(maximumWidth) / Double(width), Double(maximumHeight) / Double(height))
    func side(_ value: Int, _ maximum: Int) -> Int {
      max(2, min(maximum, Int((Double(value) * scale).rounded()) / 2 * 2))
    }
    return VideoSize(width: side(width, maximumWidth), height: side(height, maximumHeight))
  }
}
