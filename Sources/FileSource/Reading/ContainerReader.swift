import NIOCore

/// A frame as a container holds it.
struct ContainerFrame: Hashable {
  /// When it is to be shown or heard, in units of `FileTime.rate` from the container's own zero; what the decoder is
  /// late by is already taken off. nil for one that follows another in the same block: then it begins where that ends.
  var time: Int64?
  /// Units, when the container tells.
  var length: Int64?
  var payload: ByteBuffer
  /// Where it lies, in bytes from the file's start.
  var position: UInt64
}

/// A file read from its start to its end, one track's frame at a time.
protocol ContainerReader: AnyObject {
  /// The next frame of the track; nil at the end.
  func next() throws(MediaFile.ReadError) -> ContainerFrame?

  /// Whether the end came in the middle of something.
  var isTruncated: Bool { get }
}

/// How exactly a container says when a frame begins.
struct ContainerTiming: Hashable {
  /// Units that a frame's time can be off because the container rounds it; 0 when it does not round.
  var rounding: Int64
  /// Units from frame to frame, when the container promises that they are all alike.
  var interval: Int64?
}
