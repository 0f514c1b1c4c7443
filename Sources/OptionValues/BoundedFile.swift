package import FoundationEssentials
import Glibc

/// Reads files that a user named, up to a maximum size.
package enum BoundedFile {
  /// Why a file could not be read.
  package struct ReadError: Error {
    package let sentence: String
  }

  /// Reads all bytes of a file.
  package static func read(_ path: String, longest: Int) throws(ReadError) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ReadError(path, errno) }
    defer { close(descriptor) }
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

  /// Reads a text in UTF-8.
  package static func text(_ path: String, longest: Int) throws(ReadError) -> String {
    guard let text = String(bytes: try read(path, longest: longest), encoding: .utf8) else {
      throw ReadError(sentence: "\(path) is not UTF-8 text.")
    }
    return text
  }
}

extension BoundedFile.ReadError {
  fileprivate init(_ path: String, _ number: Int32) {
    let reason = String(cString: strerror(number))
    self.init(sentence: "\(path) cannot be read: \(reason.prefix(1).lowercased() + reason.dropFirst()).")
  }
}
