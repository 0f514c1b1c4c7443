public import HTTPTransport

extension SkyRTCClient {
  /// How to reach the server, and the limits for what it sends.
  public struct Options: Sendable {
    /// Our name for people, which servers that know names show to the others: at most 64 Unicode scalars, without control and
    /// format characters; what is more is left out. Nil for none.
    public var name: String?
    /// Whether we announce to the others that we record them.
    public var records = false
    /// The certificates to trust with `wss`.
    public var trust = TLSTrust.system
    /// The timeout for TCP, TLS and the upgrade together.
    public var connectTimeout: Duration = .seconds(10)
    /// The timeout for the server's answer to the join.
    public var joinTimeout: Duration = .seconds(10)
    /// The silence of the server after which the client sends a ping.
    public var pingInterval: Duration = .seconds(10)
    /// The further silence after which the connection counts as lost.
    public var pingTimeout: Duration = .seconds(10)
    /// The minimum and the maximum wait before the next attempt to connect.
    public var minimumRetryDelay: Duration = .milliseconds(500)
    public var maximumRetryDelay: Duration = .seconds(30)
    /// The age of a connection from which on its loss resets the wait to the minimum.
    public var backoffResetAge: Duration = .seconds(5)
    /// The timeout of the closing handshake.
    public var closeTimeout: Duration = .seconds(1)
    /// The maximum size of a message in bytes.
    public var maximumMessageBytes = 256 * 1024
    /// The maximum number of other participants in the room. Further ones are ignored.
    public var maximumParticipants = 256
    /// The maximum number of events that wait in `events`. When it is reached, 8,192 more messages of 16 MiB in total
    /// wait undecoded, which is more than others can send through our server while a busy machine does not schedule the
    /// reader. Beyond that the connection is closed and opened again, so that memory stays bounded and no event is ever
    /// missing in the middle.
    public var maximumWaitingEvents = 4096

    public init() {}

    /// What we say of ourselves.
    var profile: ParticipantProfile { ParticipantProfile(name: name, records: records) }

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
