/// The path of a control socket. Those of sockets have 107 bytes at most.
package enum ControlPath {
  package static let maximumBytes = 107

  /// Returns a path of the socket that is short, however long that of the folder is.
  ///
  /// - Parameters:
  ///   - folder: the path of the folder.
  ///   - descriptor: an open descriptor of the folder.
  ///   - hasDescriptors: whether the system has `/proc/self/fd`; in a chroot it may be missing.
  package static func path(in folder: String, descriptor: Int32, hasDescriptors: Bool) -> String {
    let direct = folder.utf8.last == UInt8(ascii: "/") ? folder + JobFolder.control : "\(folder)/\(JobFolder.control)"
    let isShort = direct.utf8.count <= maximumBytes
    return hasDescriptors || !isShort ? "/proc/self/fd/\(descriptor)/\(JobFolder.control)" : direct
  }
}
