internal import Glibc

/// The limit of open files and sockets.
package enum FileDescriptorLimit {
  /// Raises the limit to the maximum that the system allows.
  package static func allowMany() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
