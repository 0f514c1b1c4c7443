import FoundationEssentials
import HTTPTransport

/// A secret of the user: a token or a PIN, from a file or from the environment, never from the command line.
struct SecretFile: Sendable, Hashable {
  /// The path of a file that contains only the secret, or nil.
  var path: String?
  /// The environment variable that is used without a file.
  var variable: String

  static let maximumBytes = 16_384

  /// Reads the secret, without spaces and line ends around it.
  ///
  /// - Returns: nil if there is neither a file nor a variable.
  func read() throws(CallFailure) -> String? {
    guard let text = try readText() else { return nil }
    let secret = text.split(whereSeparator: \.isWhitespace)
    guard secret.count == 1, let only = secret.first else {
      throw CallFailure(
        .usage, "\(path ?? variable) must contain one word, the secret, but it contains \(secret.count).")
    }
    return String(only)
  }

  /// Reads all of the file or the variable; nil if there is neither.
  func readText() throws(CallFailure) -> String? {
    if let path {
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)), data.count <= Self.maximumBytes else {
        throw CallFailure(.usage, "\(path) cannot be read: \(FileReason.of(path, otherwise: "it is too large")).")
      }
      return String(decoding: data, as: UTF8.self)
    }
    return ProcessInfo.processInfo.environment[variable]
  }
}
