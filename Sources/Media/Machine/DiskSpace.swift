internal import Glibc
internal import Synchronization

/// The free space of the file systems of folders: of the one that has the least. It is asked for on a thread, so that a disk that gives no answer blocks no caller.
package final class DiskSpace: Sendable {
  private struct State {
    var free: Int64?
    var isAsking = false
    var askedAt: MonotonicInstant?
  }

  private let folders: [String]
  private let state = Mutex(State())

  /// How often the file system is asked at most.
  private static let interval = Duration.seconds(5)

  package init(folder: String) {
    folders = [folder]
  }

  /// - Parameter folders: one or more.
  package init(folders: [String]) {
    self.folders = folders
  }

  /// The bytes that are free for this user, as they were known last, and asks again if that was long ago. Returns at once.
  package func free(now: MonotonicInstant) -> Int64? {
    let (free, isDue) = state.withLock { state in
      let isDue = !state.isAsking && (state.askedAt.map { now - $0 >= Self.interval } ?? true)
      if isDue { (state.isAsking, state.askedAt) = (true, now) }
      return (state.free, isDue)
    }
    if isDue, !DedicatedThread.start("disk space", { self.ask() }) { state.withLock { $0.isAsking = false } }
    return free
  }

  private func ask() {
    let free = folders.map { folder -> Int64? in
      var status = statvfs()
      let isKnown = statvfs(folder, &status) == 0
      let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
        by: Int64(clamping: status.f_frsize))
      return isKnown && !overflow ? bytes : nil
    }
    state.withLock { state in
      state.isAsking = false
      state.free = free.contains(nil) ? nil : free.compactMap(\.self).min()
    }
  }
}
