internal import FoundationEssentials
internal import Glibc

/// The priority of a composition.
package enum LowPriority {
  /// Of all threads and of the processes that decode and encode.
  package static let niceness: Int32 = 10

  /// Gives all threads of this process a low priority, and with that what they start from now on. A thread whose priority is lower
  /// already keeps it.
  package static func enter() {
    let process = __priority_which_t(PRIO_PROCESS.rawValue)
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    for thread in threads.compactMap({ id_t($0) }) where getpriority(process, thread) < niceness {
      _ = setpriority(process, thread, niceness)
    }
  }
}
