import NIOCore

/// The long-term credential mechanism of one server (RFC 8489, 9.2): the realm, nonce and algorithm that the server has
/// announced, and the key that follows from them.
struct TURNAuthentication: Sendable {
  /// What a 401 or 438 response changed.
  enum Change: Sendable, Hashable {
    /// The realm or the algorithm is new, so the key is too.
    case key
    /// Only the nonce is new.
    case nonce
    case nothing
    /// The response cannot be used: REALM or NONCE is missing or too long, or the algorithms contradict the nonce.
    case invalid
  }

  private struct Challenge: Sendable {
    let realm: String
    let nonce: ByteBuffer
    /// PASSWORD-ALGORITHMS as received; it is returned so that the server detects a change (RFC 8489, 9.2.1).
    let offeredAlgorithms: ByteBuffer?
    let algorithm: TURNPasswordAlgorithm
    let key: [UInt8]
  }

  private let credentials: TURNCredentials
  private var challenge: Challenge?
  /// Increases with each new key, so that the answer to a request with a former key is recognised.
  private(set) var epoch = 0

  /// RFC 8489, 14.9 and 14.10: fewer than 128 characters, at most 763 bytes.
  private static let maximumLength = 763
  /// The start of a nonce that carries security features (RFC 8489, 9.2).
  private static let nonceCookie = Array("obMatJos2".utf8)

  init(credentials: TURNCredentials) {
    self.credentials = credentials
  }

  /// Whether the credentials are valid until a time that the user name contains.
  var isTimeLimited: Bool { credentials.isTimeLimited }

  /// Whether the server has announced a realm and a nonce, so that requests can be authenticated.
  var isReady: Bool { challenge != nil }
  var realm: String? { challenge?.realm }

  mutating func reset() { challenge = nil }

  /// Takes realm, nonce and algorithms from a 401 or 438 response.
  mutating func update(from response: STUNMessage) -> Change {
    guard let nonce = response.nonce, (1...Self.maximumLength).contains(nonce.readableBytes) else { return .invalid }
    // A 438 response has the realm too; some servers leave it out.
    guard let realm = response.realm ?? challenge?.realm, (1...Self.maximumLength).contains(realm.utf8.count) else {
      return .invalid
    }
    let offered = response.first(.passwordAlgorithms)?.value
    var algorithm = TURNPasswordAlgorithm.md5
    if Self.announcesAlgorithms(nonce) {
      // Without the attribute somebody has removed it, and the request must not be repeated (RFC 8489, 9.2.5).
      let numbers = response.passwordAlgorithms
      if numbers.contains(TURNPasswordAlgorithm.sha256.rawValue) {
        algorithm = .sha256
      } else if !numbers.contains(TURNPasswordAlgorithm.md5.rawValue) {
        return .invalid
      }
    }
    let echoed = Self.announcesAlgorithms(nonce) ? offered : nil
    if let challenge, challenge.realm.utf8.elementsEqual(realm.utf8), challenge.algorithm == algorithm,
      (challenge.offeredAlgorithms == nil) == (echoed == nil)
    {
      if challenge.nonce == nonce { return .nothing }
      self.challenge = Challenge(
        realm: realm, nonce: nonce, offeredAlgorithms: echoed, algorithm: algorithm, key: challenge.key)
      return .nonce
    }
    let key = credentials.key(realm: realm, algorithm: algorithm)
    guard !key.isEmpty else { return .invalid }
    challenge = Challenge(realm: realm, nonce: nonce, offeredAlgorithms: echoed, algorithm: algorithm, key: key)
    epoch += 1
    return .key
  }

  /// Returns the finished request: authenticated if the server has announced a realm, and with FINGERPRINT.
  func encoded(_ request: STUNMessage) -> ByteBuffer {
    var message = request
    if let challenge {
      message.username = credentials.username
      message.realm = challenge.realm
      message.nonce = challenge.nonce
      if let offered = challenge.offeredAlgorithms {
        message.set(.passwordAlgorithms, offered)
        message.passwordAlgorithm = challenge.algorithm.rawValue
        message.appendIntegritySHA256(key: challenge.key)
      } else {
        message.appendIntegrity(key: challenge.key)
      }
    }
    return message.encoded(integrityKey: nil)
  }

  /// Whether a response was computed with the key, by the attribute that requests use.
  func isAuthentic(_ response: STUNMessage) -> Bool {
    guard let challenge else { return false }
    return challenge.offeredAlgorithms == nil
      ? response.isAuthentic(key: challenge.key) : response.isAuthenticSHA256(key: challenge.key)
  }

  /// Whether the nonce says that the response has PASSWORD-ALGORITHMS: the cookie, then four base64 characters of 24
  /// bits whose rightmost is this (RFC 8489, 9.2 and 18.1 with erratum 6290).
  private static func announcesAlgorithms(_ nonce: ByteBuffer) -> Bool {
    let bytes = nonce.readableBytesView
    guard bytes.starts(with: nonceCookie), bytes.count >= nonceCookie.count + 4 else { return false }
    // In the base64 alphabet A...Z, a...z, 0...9, +, / these are the characters with an odd number.
    return switch bytes[bytes.startIndex + nonceCookie.count + 3] {
    case let letter where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter): letter % 2 == 0
    case let letter where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter): letter % 2 == 0
    case let digit where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit): digit % 2 == 1
    case UInt8(ascii: "/"): true
    default: false
    }
  }
}
