import FoundationEssentials
import Glibc

/// Reads files that a user named, up to a maximum size.
enum BoundedFile {
  /// Why a file could not be read.
  struct ReadError: Error {
    let sentence: String
  }

  /// Reads all bytes of a file.
  ///
  /// - Parameter isNamed: whether the user has named it; it may be a link or a pipe then. A file that was found beside another
  ///   one may not: a link could lead anywhere, and a pipe would be waited for.
  static func read(_ path: String, longest: Int, isNamed: Bool = true) throws(ReadError) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (isNamed ? 0 : O_NOFOLLOW | O_NONBLOCK | O_NOCTTY))
    guard descriptor >= 0 else { throw ReadError(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard isNamed || fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else {
      throw ReadError(sentence: "\(path) is not a file.")
    }
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= longest {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw ReadError(path, errno) }
      bytes.append(contentsOf: buffer[..<count])
    }
    throw ReadError(sentence: "\(path) cannot be read: it has more than \(longest) bytes.")
  }
}

extension BoundedFile.ReadError {
  fileprivate init(_ path: String, _ number: Int32) {
    let reason = String(cString: strerror(number))
    self.init(sentence: "\(path) cannot be read: \(reason.prefix(1).lowercased() + reason.dropFirst()).")
  }
}
