/// The address of a room server, and the request that it must answer.
public struct RoomServerAddress: Sendable, Hashable {
  /// A name or an IP address, IPv6 without brackets.
  public var host: String
  public var port: Int
  public var isSecure: Bool
  /// The value of `Host`.
  public var authority: String
  /// The percent-encoded path and query.
  public var target: String
  /// `GET` or `OPTIONS`.
  public var method: String
  /// Whether the server is asked for a WebSocket.
  public var isWebSocket: Bool
  /// The value of `Sec-WebSocket-Protocol`, or nil.
  public var webSocketProtocol: String?
  /// The text for people, without secrets.
  public var shown: String

  public init(
    host: String, port: Int, isSecure: Bool, authority: String, target: String, method: String = "GET",
    isWebSocket: Bool, webSocketProtocol: String? = nil, shown: String
  ) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
    self.authority = authority
    self.target = target
    self.method = method
    self.isWebSocket = isWebSocket
    self.webSocketProtocol = webSocketProtocol
    self.shown = shown
  }

  /// The request as bytes (RFC 9112, 3; RFC 6455, 4.1).
  func request(upgrading: Bool) -> String {
    var lines = [
      "\(upgrading ? "GET" : method) \(upgrading || !isWebSocket ? target : "/") HTTP/1.1", "Host: \(authority)",
    ]
    if upgrading {
      lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
      // Any 16 bytes.
      lines.append("Sec-WebSocket-Key: Y2hhdGJvdCBkaWFnbm9zZQ==")
      if let webSocketProtocol { lines.append("Sec-WebSocket-Protocol: \(webSocketProtocol)") }
    } else {
      lines.append("Connection: close")
    }
    // A line end in a name would be another header.
    let plain = lines.map { String($0.unicodeScalars.filter { $0.value >= 0x20 }.map(Character.init)) }
    return plain.joined(separator: "\r\n") + "\r\n\r\n"
  }
}

/// How the room server was reached. Times are milliseconds from the start of the step before.
public struct RoomServerDiagnosis: Sendable, Hashable, Codable {
  /// The clock of this machine compared with the server's.
  public struct ClockOffset: Sendable, Hashable, Codable {
    /// How far our clock is behind; negative if it is ahead.
    public var seconds: Double
    /// The error is at most this: half a second, because `Date` has whole seconds, and half of the time of the answer.
    public var bound: Double

    /// Above this, credentials that are valid for a limited time and signatures of tokens may be refused.
    public static let limit = 5.0

    public init(seconds: Double, bound: Double) {
      self.seconds = seconds
      self.bound = bound
    }

    public var isTooLarge: Bool { abs(seconds) > Self.limit }
  }

  public var address: String
  /// The numeric address to which the connection was made.
  public var resolved: String?
  public var connectTime: Double?
  public var tlsTime: Double?
  public var answerTime: Double?
  /// `WebSocket`, or the status of the HTTP answer.
  public var answer: String?
  public var certificate: CertificateDiagnosis?
  /// Nil if no answer had a `Date`.
  public var clockOffset: ClockOffset?
  /// Why the server cannot be used, as a sentence.
  public var failure: String?

  public init(address: String) {
    self.address = address
  }
}
