import NIOCore

/// A file that is to be repaired: what a repair does to it, so that tests can have one that fails or stops anywhere.
protocol RepairTarget: ByteSource {
  /// Cuts the file off.
  func truncate(to size: Int64) throws(Recorder.DiskError)
  /// Writes all bytes or throws; then some of them may be written.
  func write(_ write: FileWrite) throws(Recorder.DiskError)
  /// Waits until all that was written lies on the disk.
  func sync() throws(Recorder.DiskError)
}
