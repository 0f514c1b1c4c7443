internal import OptionValues

/// The token that the nodes of a database have in common, for what one asks of another.
package struct ClusterToken: Sendable {
  /// Why it cannot be used.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  package static let minimumBytes = 32
  package static let maximumBytes = 512

  let text: String
  private let digest: SHA256Digest

  /// - Throws: a ``Failure`` if it is too short, or has other than visible ASCII characters.
  package init(_ text: String) throws(Failure) {
    guard (Self.minimumBytes...Self.maximumBytes).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw Failure(
        description: "The token of the nodes has \(Self.minimumBytes) to \(Self.maximumBytes) visible characters.")
    }
    self.text = text
    digest = SHA256Digest(of: text.utf8)
  }

  /// Reads the first line of a file, which only its owner may read. Blocks.
  package init(file path: String) throws(Failure) {
    if let problem = PrivateFile.problem(path) { throw Failure(description: problem) }
    guard let bytes = try? BoundedFile.read(path, longest: 4_096), let text = String(validating: bytes, as: UTF8.self)
    else { throw Failure(description: "\(path) cannot be read.") }
    let line = text.split { $0.isNewline }.first.map { String($0) } ?? ""
    do throws(Failure) {
      try self.init(line)
    } catch {
      throw Failure(description: "\(path): \(error)")
    }
  }

  /// Whether a caller has it. The time does not depend on how much of the text is right.
  func matches(_ text: String) -> Bool {
    text.utf8.count <= Self.maximumBytes && SHA256Digest(of: text.utf8).isEqual(to: digest)
  }
}
