extension SkyRTCServer {
  /// Where to listen, and what anybody may cost.
  public struct Configuration: Sendable, Hashable {
    /// A name or an address of this machine.
    public var host: String
    /// 0 takes any free port.
    public var port: Int
    /// With it the page is `https` and the WebSocket `wss`; browsers need that for cameras anywhere but on localhost.
    public var tls: TLS?
    /// STUN or TURN addresses that the page uses, for example `stun:stun.example.org`.
    public var iceServers: [String] = []
    /// The origins of pages that may join besides the server's own page, for example `https://example.org`; `*` lets every page
    /// join. Programs, which name no origin, always may.
    public var allowedOrigins: [String] = []
    public var limits = Limits()

    public init(host: String = "127.0.0.1", port: Int = 3000, tls: TLS? = nil) {
      self.host = host
      self.port = port
      self.tls = tls
    }
  }

  /// The files of a certificate, both in PEM form.
  public struct TLS: Sendable, Hashable {
    /// The certificate, followed by those that lead to its authority.
    public var certificateFile: String
    public var keyFile: String

    public init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  /// What one connection, one room and all of them may cost. Who goes beyond is dropped; nobody else notices.
  public struct Limits: Sendable, Hashable {
    /// Open connections, page requests included. Further ones are closed at once.
    public var maximumConnections = 1000
    /// Of them, those from one IPv4 address or one IPv6 network of 64 bits. Connections from this machine are not counted: a reverse
    /// proxy may be there.
    public var maximumConnectionsPerAddress = 250
    public var maximumRooms = 1000
    public var maximumUsersPerRoom = 100
    /// Unicode scalars of a room's name.
    public var maximumRoomNameCharacters = 128

    /// Bytes of a WebSocket message, and of each frame of it.
    public var maximumMessageBytes = 256 * 1024
    /// Bytes that may wait for one slow client; it is dropped when it needs more. Signals of other participants have three quarters
    /// of that, those of one a quarter; what exceeds it is skipped.
    public var maximumOutgoingBytes = 2 * 1024 * 1024
    /// Messages a second from one client in the long run.
    public var maximumMessagesPerSecond = 200
    /// Messages that one client may send at once after a pause: candidates for a full room come in a burst.
    public var maximumMessageBurst = 4000
    /// WebSocket frames a second from one client in the long run, and at once after a pause.
    public var maximumFramesPerSecond = 400
    public var maximumFrameBurst = 8000
    /// Bytes a second of messages from one client in the long run, and at once after a pause.
    public var maximumBytesPerSecond = 1024 * 1024
    public var maximumByteBurst = 4 * 1024 * 1024
    /// Rooms that one client joins a second in the long run, and at once after a pause.
    public var maximumJoinsPerSecond = 2
    public var maximumJoinBurst = 20
    /// Messages that are not of the protocol; they are ignored, but one more than this closes the connection.
    public var maximumUnusableMessages = 50

    /// Silence after which a client is pinged.
    public var pingInterval: Duration = .seconds(15)
    /// Further silence after which it is gone.
    public var pingTimeout: Duration = .seconds(10)
    /// How long the closing handshake may take.
    public var closeTimeout: Duration = .seconds(2)
    /// A client that has not joined a room by then is dropped.
    public var joinTimeout: Duration = .seconds(60)

    /// From the TCP connection to the end of the request; the answer has as long again.
    public var requestTimeout: Duration = .seconds(10)
    /// Bytes of all headers of a request together.
    public var maximumHeaderBytes = 16 * 1024

    public init() {}
  }
}
