import Glibc
package import Media
import Synchronization

/// Determines whether the disk is the reason that frames wait: because it fails, because a call takes long or recently
/// took long, or because most of the time is spent in calls. Otherwise this machine has no time.
///
/// All times are those of the frames.
package final class DiskMonitor: Sendable {
  /// The minimum duration of a slow call.
  static let slowCall = Duration.milliseconds(200)
  /// How long a slow call is remembered.
  static let memory = Duration.seconds(5)
  /// The share of time spent in calls above which the disk counts as slow although each call is short. On an overloaded
  /// machine, the thread waits between calls as well as within them.
  static let slowShare = 0.75
  /// The minimum average duration of calls for that rule: shorter calls are this machine's own work.
  static let slowAverage = Duration.milliseconds(2)
  /// The time constant of the exponentially weighted average of the share.
  static let averagingTime = Duration.seconds(2)

  private struct State {
    var callBegan: MonotonicInstant?
    var slowUntil: MonotonicInstant?
    var isFailing = false
    /// The share of the time that was spent in calls, 0 to 1, as of the end of the last call.
    var share = 0.0
    var shareTime: MonotonicInstant?
    /// The average duration of the last calls.
    var average = Duration.zero

    /// Returns the share at a time, where the time since the last update counts as spent in a call or outside.
    func share(at now: MonotonicInstant, isInCall: Bool) -> Double {
      guard let shareTime, now > shareTime else { return share }
      let weight = exp(-((now - shareTime) / DiskMonitor.averagingTime))
      return share * weight + (isInCall ? 1 - weight : 0)
    }

    mutating func pass(until now: MonotonicInstant, isInCall: Bool) {
      share = share(at: now, isInCall: isInCall)
      shareTime = max(shareTime ?? now, now)
    }
  }

  private let state = Mutex(State())

  package init() {}

  /// Records that a call to the file system begins.
  package func callBegan(at now: MonotonicInstant) {
    state.withLock { state in
      state.pass(until: now, isInCall: false)
      state.callBegan = now
    }
  }

  /// Records that the call ended.
  package func callEnded(at now: MonotonicInstant) {
    state.withLock { state in
      guard let began = state.callBegan else { return }
      state.callBegan = nil
      state.pass(until: now, isInCall: true)
      state.average += (now - began - state.average) * 0.1
      if now - began >= Self.slowCall { state.slowUntil = now + Self.memory }
    }
  }

  /// Records whether some file could not be written.
  package func setFailing(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

  /// Whether frames wait because of the disk.
  package func isCause(at now: MonotonicInstant) -> Bool {
    state.withLock { state in
      if state.isFailing { return true }
      if let began = state.callBegan, now - began >= Self.slowCall { return true }
      let share = state.share(at: now, isInCall: state.callBegan != nil)
      if share >= Self.slowShare, state.average >= Self.slowAverage { return true }
      return state.slowUntil.map { now < $0 } ?? false
    }
  }
}

/// A file system that reports the start and end of each call to a monitor.
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
