internal import FoundationEssentials
internal import HTTPTransport
internal import Media

/// How a program identifies itself to Firestore. Secrets come only from files and the environment, and are not part of
/// any description.
public struct FirestoreCredentials: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    case none
    case emulatorOwner
    case apiKey(Secret)
    case serviceAccount(ServiceAccountKey)
  }

  let kind: Kind

  /// No credentials, for a database whose rules allow everybody to read and write.
  public static let none = FirestoreCredentials(kind: .none)

  /// The owner of an emulator, whom no rule restricts.
  public static let emulatorOwner = FirestoreCredentials(kind: .emulatorOwner)

  /// A file that contains an API key of the project; the program signs in anonymously with it. Blocks while it reads.
  public static func apiKey(file: String) throws(FirestoreCredentialsError) -> FirestoreCredentials {
    let text = String(decoding: try contents(of: file), as: UTF8.self)
    return try apiKey(text, source: "The file \(file.printable())")
  }

  /// The key of a service account, as the Google Cloud console saves it in JSON. Blocks while it reads.
  public static func serviceAccount(file: String) throws(FirestoreCredentialsError) -> FirestoreCredentials {
    FirestoreCredentials(
      kind: .serviceAccount(try ServiceAccountKey(parsing: try contents(of: file), file: file)))
  }

  /// Credentials that environment variables name: `GOOGLE_APPLICATION_CREDENTIALS` (the file of a service account),
  /// else `FIRESTORE_API_KEY`, else none.
  public static func fromEnvironment(
    _ environment: [String: String]
  ) throws(FirestoreCredentialsError) -> FirestoreCredentials {
    if let file = environment["GOOGLE_APPLICATION_CREDENTIALS"], !file.isEmpty {
      return try serviceAccount(file: file)
    }
    if let key = environment["FIRESTORE_API_KEY"], !key.isEmpty {
      return try apiKey(key, source: "The variable FIRESTORE_API_KEY")
    }
    return .none
  }

  /// The kind of credentials, without them.
  public var description: String {
    switch kind {
    case .none: "no credentials"
    case .emulatorOwner: "the owner of an emulator"
    case .apiKey: "an API key"
    case .serviceAccount(let key): "the service account \(key.email.printable())"
    }
  }

  private static func apiKey(_ text: String, source: String) throws(FirestoreCredentialsError) -> FirestoreCredentials {
    let key = text.trimmingSpaces
    let isKey = (1...256).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isKey else { throw FirestoreCredentialsError("\(source) does not contain an API key.") }
    return FirestoreCredentials(kind: .apiKey(Secret(key)))
  }

  private static func contents(of file: String) throws(FirestoreCredentialsError) -> Data {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: file)) else {
      let reason = FileReason.of(file, otherwise: "it is not a readable file")
      throw FirestoreCredentialsError("The credentials in \(file.printable()) cannot be read: \(reason).")
    }
    guard data.count <= 64 * 1024 else {
      throw FirestoreCredentialsError("The file \(file.printable()) is too large for credentials.")
    }
    return data
  }
}

/// Why credentials cannot be used, in one sentence without them.
public struct FirestoreCredentialsError: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text = text.dropFirst() }
    while text.last?.isWhitespace == true { text = text.dropLast() }
    return String(text)
  }
}
