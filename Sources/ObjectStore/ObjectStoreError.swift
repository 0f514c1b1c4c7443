internal import Glibc
internal import Media

/// Why an object cannot be stored, read or deleted.
package struct ObjectStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// There is another object with the key.
    case exists
    case missing
    /// The disk is full.
    case full
    /// The store gave no answer in time. It may have done what was asked.
    case timeout
    /// What is to be stored is no plain file.
    case notAFile
    /// Another process writes what is to be stored.
    case busy
    /// The store refuses it until an operator changes something: rights, credentials, the region.
    case refused
    /// The key is longer than the store takes. Trying again changes nothing.
    case keyTooLong
    case storage
  }

  package let kind: Kind
  /// A sentence.
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// The error of the system call that has just failed.
  ///
  /// - Parameter call: such as `written`: what the file could not be.
  static func system(_ call: String, _ path: String, code: Int32 = errno) -> ObjectStoreError {
    let kind: Kind =
      switch code {
      case ENOSPC, EDQUOT: .full
      case ENOENT: .missing
      case EEXIST: .exists
      case ELOOP, ENXIO, EISDIR: .notAFile
      case EWOULDBLOCK: .busy
      default: .storage
      }
    let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return ObjectStoreError(kind, "\(path.printable(utf8Bytes: 500)) cannot be \(call): \(reason).")
  }
}
