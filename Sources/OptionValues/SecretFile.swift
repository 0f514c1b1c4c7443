internal import FoundationEssentials
internal import Synchronization

/// A secret of the user: a token or a PIN, from a file or from the environment, never from the command line.
package struct SecretFile: Sendable, Hashable {
  /// The path of a file that contains only the secret, or nil.
  package var path: String?
  /// The environment variable that is used without a file.
  package var variable: String

  package static let maximumBytes = 16_384

  package init(path: String?, variable: String) {
    self.path = path
    self.variable = variable
  }

  /// Reads the secret, without spaces and line ends around it.
  ///
  /// - Returns: nil if there is neither a file nor a variable.
  package func read() throws(BoundedFile.ReadError) -> String? {
    guard let text = try readText() else { return nil }
    let secret = text.split(whereSeparator: \.isWhitespace)
    guard secret.count == 1, let only = secret.first else {
      throw BoundedFile.ReadError(
        sentence: "\(path ?? variable) must contain one word, the secret, but it contains \(secret.count).")
    }
    return String(only)
  }

  /// Reads all of the file or the variable; nil if there is neither.
  package func readText() throws(BoundedFile.ReadError) -> String? {
    if let path { return String(decoding: try BoundedFile.read(path, longest: Self.maximumBytes), as: UTF8.self) }
    if let provided = Self.provided.withLock(\.self) { return provided[variable] }
    return ProcessInfo.processInfo.environment[variable]
  }

  /// The secrets of ``provide(_:)``; nil where the environment has them.
  private static let provided = Mutex<[String: String]?>(nil)

  /// Sets the texts of secrets by the names of their variables, of which none is read from the environment any more: for a process
  /// that gets its secrets in another way.
  package static func provide(_ secrets: [String: String]) { provided.withLock { $0 = secrets } }
}
