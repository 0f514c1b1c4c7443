import Glibc
import Media

/// An error of a file that is sent, received or written; one sentence.
package struct FileTransferError: Error, Sendable, CustomStringConvertible {
  package enum Cause: Sendable, Hashable {
    /// A file that is to be sent cannot be read.
    case unreadable
    /// A file or a folder cannot be created or written.
    case unwritable
    /// The files of users and the recordings have one folder.
    case sharedFolder
  }

  package let cause: Cause
  package let description: String

  init(_ what: String, _ path: String, _ cause: Cause = .unwritable, errno number: Int32 = errno) {
    self.init("\(path.printable()) cannot be \(what): \(String(cString: strerror(number))).", cause)
  }

  init(_ sentence: String, _ cause: Cause = .unwritable) {
    description = sentence
    self.cause = cause
  }
}
