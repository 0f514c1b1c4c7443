package import Codecs
package import Media

/// Frames that are read one after the other, and again from the start after `rewind`. It is used by one thread.
///
/// There are three steps so that frames can be skipped without being read, decoded or painted.
package protocol VideoInput: AnyObject {
  /// Returns the time of the next frame, in units of `MediaTimebase.rate` from the start of the round; nil at the end.
  func peek() throws(InputError) -> Int64?

  /// Advances to the frame whose time `peek` returned.
  func advance() throws(InputError)

  /// Returns the frame that `advance` reached; can be called more than once.
  func videoFrame() throws(InputError) -> VideoFrame

  /// Replaces a repeated frame by one that has arrived since `advance`.
  ///
  /// - Returns: whether `videoFrame` now returns another frame.
  func replaceRepetition() -> Bool

  /// Records that the last returned frame was sent, not skipped.
  func videoFrameWasSent()

  /// The frames that could not be decoded so far.
  var undecodable: Undecodable { get }

  /// Goes back to the start. `videoFrame` keeps returning the same frame until the next `advance`.
  func rewind() throws(InputError)
}

extension VideoInput {
  package func replaceRepetition() -> Bool { false }
  package func videoFrameWasSent() {}
  package var undecodable: Undecodable { Undecodable() }
}

/// Checked video that can be opened any number of times.
package struct CheckedVideo: Sendable {
  /// A description, for example `Y4M 640x480, 300 frames at 30 a second`.
  package var summary: String
  package var size: VideoSize
  /// The usual interval between frames, in units of `MediaTimebase.rate`; positive.
  package var interval: Int64
  package var extent: Extent
  package var notes: [String] = []
  /// Whether programs read what the frames show.
  var isReadByPrograms = false
  package var open: @Sendable (CameraClock) throws(InputError) -> any VideoInput
}

/// The extent of an input on its own timeline, in units of `MediaTimebase.rate`.
package enum Extent: Sendable, Hashable {
  /// From the start of the first frame to the end of the last one. The input can be played again.
  case range(Range<Int64>)
  /// Unlimited, as for a still image.
  case endless
  /// Until the input ends, at an unknown time, as for a pipe. It cannot be played again.
  case unknown
}

/// Statistics of frames or packets that could not be decoded and were skipped.
package struct Undecodable: Sendable, Hashable {
  /// The first failure.
  package struct First: Sendable, Hashable {
    /// In units of `MediaTimebase.rate` from the input's start.
    package let time: Int64
    /// The reason, as a clause.
    package let reason: String
  }

  /// The number of failures, in all rounds together.
  package private(set) var count = 0
  package private(set) var first: First?

  package init() {}

  /// Adds a failure.
  ///
  /// - Parameters:
  ///   - time: in units of `MediaTimebase.rate` from the input's start.
  ///   - reason: as a clause.
  package mutating func add(at time: Int64, reason: String) {
    count += 1
    first = first ?? First(time: time, reason: reason)
  }
}
