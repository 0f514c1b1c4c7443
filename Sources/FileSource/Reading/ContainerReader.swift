import Media
import NIOCore

/// A frame as stored in a container.
struct ContainerFrame: Hashable {
  /// The presentation time, in units of `MediaTimebase.rate` from the container's zero, with the codec delay subtracted.
  /// nil for a frame that follows another in the same block: then it begins where that one ends.
  var time: Int64?
  /// The duration in units, if the container states it.
  var length: Int64?
  var payload: ByteBuffer
  /// The position in the file, in bytes.
  var position: UInt64
}

/// Reads the frames of one track, from the file's start to its end.
protocol ContainerReader: AnyObject {
  /// Returns the next frame of the track; nil at the end.
  func next() throws(MediaFile.ReadError) -> ContainerFrame?

  /// Whether the file ended in the middle of an element.
  var isTruncated: Bool { get }

  /// The parts of the file that could not be read and were left out so far, in order.
  var damages: [FileDamage] { get }

  /// What the container says, as far as it was read, that keeps video from being sent as stored, as a clause; nil if nothing does.
  var obstacle: String? { get }

  /// How the frames of video are turned before they are shown.
  var orientation: VideoOrientation { get }
}

extension ContainerReader {
  /// Frames are sent as they are, and receivers do not turn them.
  var obstacle: String? { orientation == .upright ? nil : "it is shown \(orientation)" }
  var orientation: VideoOrientation { .upright }
  var damages: [FileDamage] { [] }
}

/// A part of a file that could not be read and was left out.
package struct FileDamage: Sendable, Hashable {
  /// The part in bytes from the start of the file.
  package var range: Range<UInt64>
  /// What is wrong at its start.
  package var reason: MediaFile.ReadError

  /// A file with more damages is given up.
  static let maximumCount = 100

  /// For example `at byte 4096 an element's id is malformed, and 20480 bytes are left out`.
  package var description: String {
    "\(reason), and \(range.count) \(range.count == 1 ? "byte is" : "bytes are") left out"
  }
}

/// How exact the frame times of a container are.
package struct ContainerTiming: Hashable {
  /// The maximum rounding error of a frame's time, in units; 0 if times are exact.
  package var rounding: Int64
  /// The constant interval between frames, in units, if the container states one.
  package var interval: Int64?

  /// - Parameters:
  ///   - rounding: the maximum rounding error of a frame's time, in units of `MediaTimebase.rate`.
  ///   - interval: the constant interval between frames, in units; nil if the container states none.
  package init(rounding: Int64, interval: Int64? = nil) {
    self.rounding = rounding
    self.interval = interval
  }
}
