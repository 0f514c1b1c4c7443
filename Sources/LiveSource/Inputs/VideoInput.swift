import Codecs
import Media

/// Frames that are pulled one after the other, from the start again after `rewind`. One thread uses it.
///
/// The three steps are apart so that frames can be skipped without being read, decoded or painted.
protocol VideoInput: AnyObject {
  /// When the next frame is to be shown, in units of `FileTime.rate` from the start of the round; nil at the end.
  func peek() throws(InputError) -> Int64?

  /// Continues to the frame that `peek` told of.
  func advance() throws(InputError)

  /// The frame that `advance` went to; can be requested more than once.
  func videoFrame() throws(InputError) -> VideoFrame

  /// The frame that was requested last has been sent, and was not skipped.
  func videoFrameWasSent()

  /// What could not be decoded until now.
  var undecodable: Undecodable { get }

  /// Goes back to the start. The frame that `advance` went to stays until it continues.
  func rewind() throws(InputError)
}

extension VideoInput {
  func videoFrameWasSent() {}
  var undecodable: Undecodable { Undecodable() }
}

/// Frames that were found good and can be opened as often as they are to be played.
struct CheckedVideo: Sendable {
  /// What they are, for example `Y4M 640x480 at 30 videoFrames a second`.
  var summary: String
  var size: VideoSize
  /// From one frame to the next, usually, in units of `FileTime.rate`; above zero.
  var interval: Int64
  var extent: Extent
  var remarks: [String] = []
  var open: @Sendable (CameraClock) throws(InputError) -> any VideoInput
}

/// How long an input continues, in units of `FileTime.rate`.
enum Extent: Sendable, Hashable {
  /// From the first frame's beginning to the last one's end, on the input's own time line. It can be played again.
  case range(Range<Int64>)
  /// For ever, as a still image does.
  case endless
  /// Until it ends, whenever that is, as a pipe does. It cannot be played again.
  case unknown
}

/// What of an input could not be decoded, and was skipped.
struct Undecodable: Sendable, Hashable {
  /// The first that was.
  struct First: Sendable, Hashable {
    /// In units of `FileTime.rate` from the input's start.
    let time: Int64
    /// As a clause.
    let reason: String
  }

  /// How many, in all rounds together.
  private(set) var count = 0
  private(set) var first: First?

  mutating func add(at time: Int64, reason: String) {
    count += 1
    first = first ?? First(time: time, reason: reason)
  }
}
