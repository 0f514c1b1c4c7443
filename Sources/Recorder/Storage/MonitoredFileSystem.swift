import Media

/// A disk that tells a monitor when each call begins and ends.
struct MonitoredFileSystem: FileSystem {
  let disk: any FileSystem
  let monitor: DiskMonitor
  /// The time of the newest frame or event.
  let now: @Sendable () -> MonotonicInstant

  func openFolder(_ path: String) throws(RoomRecorder.StorageError) -> Handle { try disk.openFolder(path) }

  func create(_ name: String, in folder: Handle) throws(SystemError) -> Handle {
    try monitored { () throws(SystemError) in try disk.create(name, in: folder) }
  }

  func link(_ name: String, as other: String, in folder: Handle) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.link(name, as: other, in: folder) }
  }

  func rename(_ name: String, to other: String, in folder: Handle) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.rename(name, to: other, in: folder) }
  }

  func remove(_ name: String, in folder: Handle) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.remove(name, in: folder) }
  }

  func contains(_ name: String, in folder: Handle) -> Bool { disk.contains(name, in: folder) }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of file: Handle) throws(SystemError) -> Int {
    try monitored { () throws(SystemError) in try disk.write(bytes, at: offset, of: file) }
  }

  func reserve(_ part: Range<Int64>, of file: Handle) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.reserve(part, of: file) }
  }

  func truncate(_ file: Handle, to size: Int64) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.truncate(file, to: size) }
  }

  func sync(_ handle: Handle) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.sync(handle) }
  }

  func close(_ handle: Handle) throws(SystemError) {
    try monitored { () throws(SystemError) in try disk.close(handle) }
  }

  private func monitored<Result>(_ call: () throws(SystemError) -> Result) throws(SystemError) -> Result {
    monitor.callBegan(at: now())
    defer { monitor.callEnded(at: now()) }
    return try call()
  }
}
