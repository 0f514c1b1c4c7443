import NIOCore

/// The bytes of a file that is to be looked at, without having it all in memory.
protocol ByteSource: AnyObject {
  /// The file's size when it was opened.
  var size: Int64 { get }

  /// Reads at a place; fewer bytes than asked for where the file ends.
  func read(at offset: Int64, count: Int) throws(Recorder.DiskError) -> ByteBuffer
}
