extension SkyRTCClient {
  /// How to reach the server, and what it may cost us.
  public struct Options: Sendable {
    /// Whose certificates are trusted with `wss`.
    public var trust = WebSocketTrust.system
    /// For TCP, TLS and the upgrade together.
    public var connectTimeout: Duration = .seconds(10)
    /// How long the server may take to answer the join.
    public var joinTimeout: Duration = .seconds(10)
    /// Silence of the server after which it is pinged.
    public var pingInterval: Duration = .seconds(10)
    /// Further silence after which it is lost.
    public var pingTimeout: Duration = .seconds(10)
    /// The shortest and the longest wait before another attempt to connect.
    public var shortestRetryDelay: Duration = .milliseconds(500)
    public var longestRetryDelay: Duration = .seconds(30)
    /// A connection that lasted so long makes the next wait short again.
    public var steadyAfter: Duration = .seconds(5)
    /// How long the closing handshake may take.
    public var closeTimeout: Duration = .seconds(1)
    /// Bytes of a message.
    public var maximumMessageBytes = 256 * 1024
    /// Others of the room that are noted; who is there beyond them does not exist for us.
    public var maximumParticipants = 256
    /// Events that may wait in `events`. When as many wait, 8,192 more messages of 16 MiB in all wait unread: more than others
    /// can send through our server while a busy machine gives the reader no time. Then the connection is closed and opened
    /// again, so that memory stays bounded and no event is ever missing in the middle.
    public var maximumWaitingEvents = 4096

    public init() {}

    var webSocket: WebSocketClient.Options {
      var options = WebSocketClient.Options()
      options.trust = trust
      options.connectTimeout = connectTimeout
      options.maximumWaitingMessages = 8_192
      options.maximumWaitingBytes = 16 << 20
      options.limits.maximumMessageBytes = maximumMessageBytes
      options.limits.pingInterval = pingInterval
      options.limits.pingTimeout = pingTimeout
      options.limits.closeTimeout = closeTimeout
      return options
    }
  }
}
