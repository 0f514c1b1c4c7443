internal import FoundationEssentials
internal import JSON

/// The secrets of a job: one JSON object on the process's standard input, up to the end of file. They stand nowhere else: not in
/// arguments, variables, files or log lines.
package struct JobSecrets: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The room's PIN.
  package var pin: String?
  /// The server's token.
  package var token: String?
  /// The API secret of the server.
  package var apiSecret: String?
  /// Our token for the room.
  package var roomToken: String?
  /// The user and the password for the TURN servers.
  package var iceCredentials: ICECredentials?
  /// The secret that the TURN servers share with us, instead of a user and a password.
  package var turnSecret: String?

  package struct ICECredentials: Sendable, Hashable, Codable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  /// The maximum size of the JSON in bytes.
  package static let maximumBytes = 16_384

  package init() {}

  /// Reads the object; no bytes mean no secrets. Unknown names are errors, because a secret would be missing.
  package init(parsing json: [UInt8]) throws(ParseError) {
    guard json.count <= Self.maximumBytes else { throw .tooLarge }
    if json.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { return }
    let limits = JSONLimits(bytes: Self.maximumBytes, values: 64, depth: 3, nameBytes: 64)
    do {
      let value = try JSONReader.decode(JSONValue.self, from: Data(json), within: limits)
      guard case .object(let fields) = value else { throw ParseError.noObject }
      let known = Set(CodingKeys.allCases.map(\.rawValue))
      // The names are not repeated: they may be secrets that were put in the wrong place.
      guard known.isSuperset(of: fields.keys) else { throw ParseError.unknownName }
      self = try JSONReader.decode(Self.self, from: Data(json), within: limits)
      guard isUsable else { throw ParseError.unusable }
    } catch let error as ParseError {
      throw error
    } catch JSONReader.Problem.tooLarge {
      throw .tooLarge
    } catch {
      throw .noObject
    }
  }

  /// Why the secrets cannot be used; never with a part of them.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLarge
    case noObject
    case unknownName
    /// One is empty, or has a space, a line end or a character that is not shown.
    case unusable

    package var description: String {
      switch self {
      case .tooLarge: "The secrets on standard input have more than \(JobSecrets.maximumBytes) bytes."
      case .noObject: "The secrets on standard input are not one JSON object of texts."
      case .unknownName:
        "The secrets on standard input have a name that is none of \(CodingKeys.allCases.map(\.rawValue).joined(separator: ", "))."
      case .unusable: "A secret on standard input is empty, or has a space or a control character."
      }
    }
  }

  /// Whether each is one word; the user and the password for TURN servers are one line.
  private var isUsable: Bool {
    let words = [pin, token, apiSecret, roomToken, turnSecret].compactMap(\.self)
    let lines = iceCredentials.map { [$0.user, $0.password] } ?? []
    return (words + lines).allSatisfy {
      !$0.isEmpty && !$0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }
      && words.allSatisfy { !$0.unicodeScalars.contains(where: \.properties.isWhitespace) }
      && lines.allSatisfy {
        $0.first?.isWhitespace == false && $0.last?.isWhitespace == false && !$0.contains(where: \.isNewline)
      }
  }

  /// The JSON, for the process's standard input.
  package var json: [UInt8] { get throws { Array(try JSONEncoder().encode(self)) } }

  /// The secrets by the names of the variables that the program otherwise reads them from.
  package var variables: [String: String] {
    var variables: [String: String] = [:]
    variables["CHATBOT_PIN"] = pin
    variables["CHATBOT_TOKEN"] = token
    variables["CHATBOT_API_SECRET"] = apiSecret
    variables["CHATBOT_ROOM_TOKEN"] = roomToken
    variables["CHATBOT_ICE_CREDENTIALS"] = iceCredentials.map { "\($0.user)\n\($0.password)" }
    variables["CHATBOT_TURN_SECRET"] = turnSecret
    return variables
  }

  /// Whether there is no secret.
  package var isEmpty: Bool { self == JobSecrets() }

  /// Without secrets.
  package var description: String { isEmpty ? "no secrets" : "secrets" }

  /// Without secrets, for `dump`.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JobSecrets: Codable {
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case pin, token, apiSecret, roomToken, iceCredentials, turnSecret
  }
}
