import Glibc

/// Why a file that was named by a user is of no use, as a clause.
enum FileReason {
  /// - Parameter otherwise: what it is if the file can be read.
  static func of(_ path: String, otherwise: String) -> String {
    if access(path, R_OK) == 0 { return otherwise }
    let reason = String(cString: strerror(errno))
    return reason.prefix(1).lowercased() + reason.dropFirst()
  }
}
