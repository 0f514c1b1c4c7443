/// Why a TURN server gave no allocation.
package enum TURNFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// 401 although the request was authenticated.
  ///
  /// - Parameter isTimeLimited: whether the user name contains a time until which it is valid.
  case wrongCredentials(realm: String, isTimeLimited: Bool = false)
  /// 403.
  case forbidden(reason: String)
  /// 437 also from another local port.
  case allocationMismatch
  /// 440.
  case unsupportedAddressFamily
  /// 442.
  case unsupportedTransport
  /// 486.
  case quotaReached
  /// 508.
  case insufficientCapacity
  /// 438 several times in a row.
  case staleNonce(times: Int)
  /// No valid response within this time.
  case noAnswer(after: Duration)
  /// The server refers to other servers without end, or to one that cannot be used.
  case badAlternateServer(String)
  /// A verified response without what it must contain.
  case malformedAnswer(String)
  /// The connection to the server ended before it answered.
  case connectionClosed
  /// TLS with the server failed; a clause about what is wrong.
  case tlsFailed(String)
  /// The bytes of the connection are neither STUN nor ChannelData.
  case brokenStream(TURNStreamError)
  /// The user name is longer than a STUN attribute may be.
  case usernameTooLong(bytes: Int)
  /// Any other error response.
  case refused(code: Int, reason: String)

  /// Whether the same request would fail again, so that the client does not repeat it.
  package var isPermanent: Bool {
    switch self {
    case .wrongCredentials, .forbidden, .unsupportedAddressFamily, .unsupportedTransport, .usernameTooLong: true
    case .refused(let code, _): code < 500
    default: false
    }
  }

  /// Whether the server has answered, so that another server or transport is reached no better.
  package var isAnswer: Bool {
    switch self {
    case .wrongCredentials, .forbidden, .allocationMismatch, .unsupportedAddressFamily, .unsupportedTransport,
      .quotaReached, .insufficientCapacity, .staleNonce, .badAlternateServer, .malformedAnswer, .refused:
      true
    case .noAnswer, .connectionClosed, .tlsFailed, .brokenStream, .usernameTooLong: false
    }
  }

  package var description: String {
    switch self {
    case .wrongCredentials(let realm, let isTimeLimited):
      "The TURN server refused the user name or the password (error 401, realm \"\(realm)\"): check both"
        + (isTimeLimited ? ", and whether the time in the user name has passed." : ".")
    case .forbidden(let reason):
      "The TURN server forbids this user an allocation (error 403\(Self.detail(reason)))."
    case .allocationMismatch:
      "The TURN server still has another allocation for this connection (error 437)."
    case .unsupportedAddressFamily:
      "The TURN server does not relay the requested address family (error 440): request IPv4 or use another server."
    case .unsupportedTransport:
      "The TURN server does not relay UDP (error 442): use another server."
    case .quotaReached:
      "The server's quota for this user is reached (error 486): end other calls of the user or raise the quota."
    case .insufficientCapacity:
      "The TURN server has no capacity for another allocation (error 508)."
    case .staleNonce(let times):
      "The TURN server called its own nonce stale \(times) times in a row (error 438)."
    case .noAnswer(let duration):
      "The TURN server has not answered for \(duration.components.seconds) s: check its address, port and transport."
    case .badAlternateServer(let problem):
      "The TURN server refers to another server (error 300), but \(problem)."
    case .malformedAnswer(let problem):
      "The answer of the TURN server is malformed: \(problem)."
    case .connectionClosed:
      "The connection to the TURN server ended before it answered: check its address, port and transport."
    case .tlsFailed(let problem):
      "TLS with the TURN server failed: \(problem)."
    case .brokenStream(let error):
      "The connection to the TURN server is unusable: \(error)"
    case .usernameTooLong(let bytes):
      "A TURN user name has at most \(TURNCredentials.maximumUsernameLength) bytes, but this one has \(bytes)."
    case .refused(let code, let reason):
      "The TURN server refused the allocation (error \(code)\(Self.detail(reason)))."
    }
  }

  /// - Parameters:
  ///   - realm: the realm of the request.
  ///   - isTimeLimited: whether its user name contains a time.
  init(_ error: STUNErrorCode, realm: String, isTimeLimited: Bool) {
    switch error.code {
    case 401: self = .wrongCredentials(realm: Self.printable(realm), isTimeLimited: isTimeLimited)
    case 403: self = .forbidden(reason: Self.printable(error.reason))
    case 437: self = .allocationMismatch
    case 440: self = .unsupportedAddressFamily
    case 442: self = .unsupportedTransport
    case 486: self = .quotaReached
    case 508: self = .insufficientCapacity
    default: self = .refused(code: error.code, reason: Self.printable(error.reason))
    }
  }

  /// At most 128 characters of a text from the server, without control characters. Some servers end the text with
  /// zeros.
  static func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(128)
    let shown = scalars.prefix(scalars.reversed().drop { $0.value == 0 }.count)
    return String(String.UnicodeScalarView(shown.map { isPrintable($0) ? $0 : "?" }))
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
    default: true
    }
  }

  private static func detail(_ reason: String) -> String { reason.isEmpty ? "" : ", \"\(reason)\"" }
}

/// Why an allocation that existed is gone.
package enum TURNLoss: Sendable, Hashable, CustomStringConvertible {
  /// 437: the server does not know the allocation, for example after a restart.
  case unknownToServer
  /// No answer to a Refresh request and no data within this time.
  case noAnswer(after: Duration)
  /// A Refresh request was answered with lifetime 0.
  case expired
  case connectionClosed
  case brokenStream(TURNStreamError)
  /// Any other error response to a Refresh request.
  case refused(code: Int, reason: String)

  package var description: String {
    switch self {
    case .unknownToServer:
      "The TURN server does not know the allocation any more (error 437); it was probably restarted."
    case .noAnswer(let duration):
      "The TURN server has not answered for \(duration.components.seconds) s."
    case .expired: "The TURN server ended the allocation."
    case .connectionClosed: "The connection to the TURN server ended."
    case .brokenStream(let error): "The connection to the TURN server is unusable: \(error)"
    case .refused(let code, let reason):
      "The TURN server refused to refresh the allocation (error \(code)\(reason.isEmpty ? "" : ", \"\(reason)\""))."
    }
  }
}
