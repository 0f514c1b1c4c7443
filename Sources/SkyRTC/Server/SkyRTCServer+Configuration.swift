public import Signalling

extension SkyRTCServer {
  /// Where to listen, and what clients may use.
  public struct Configuration: Sendable, Hashable {
    /// A name or an address of this machine.
    public var host: String
    /// The TCP port; 0 selects any free one.
    public var port: Int
    /// With TLS, the page is `https` and the WebSocket `wss`. Browsers require that for cameras everywhere but on localhost.
    public var tls: TLS?
    /// STUN or TURN servers that the page uses and that clients get when they join, for example
    /// `stun:stun.example.org`.
    public var iceServers: [ICEServer] = []
    /// Origins of pages that may join besides the server's own page, for example `https://example.org`; `*` admits
    /// every page. Programs, which send no origin, are always admitted.
    public var allowedOrigins: [String] = []
    /// Names by which pages may reach the server besides IP addresses, localhost and the name of the machine; `*` for any.
    /// They matter to a server without TLS that does not listen on loopback.
    public var serverNames: [String] = []
    public var limits = Limits()

    public init(host: String = "127.0.0.1", port: Int = 3000, tls: TLS? = nil) {
      self.host = host
      self.port = port
      self.tls = tls
    }
  }

  /// The files of a certificate, both in PEM form.
  public struct TLS: Sendable, Hashable {
    /// The certificate, followed by its intermediate certificates.
    public var certificateFile: String
    public var keyFile: String

    public init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  /// The limits of one connection, one room and the whole server. A client that exceeds one is dropped; others are not
  /// affected.
  public struct Limits: Sendable, Hashable {
    /// Open connections, including those with page requests. Further ones are closed at once.
    public var maximumConnections = 1000
    /// Open connections from one IPv4 address or one IPv6 network of 64 bits. Connections from this machine are not
    /// counted, because they may be those of a reverse proxy.
    public var maximumConnectionsPerAddress = 250
    public var maximumRooms = 1000
    public var maximumUsersPerRoom = 100
    /// Unicode scalars of a room's name.
    public var maximumRoomNameCharacters = 128

    /// The size of a WebSocket message, and of each of its frames, in bytes.
    public var maximumMessageBytes = 256 * 1024
    /// Bytes that may wait for one slow client; it is dropped when more would wait. Signals of other participants may
    /// use three quarters of that, and those of one participant a quarter; signals beyond that are skipped.
    public var maximumOutgoingBytes = 2 * 1024 * 1024
    /// The sustained rate of messages from one client, per second.
    public var maximumMessagesPerSecond = 200
    /// The burst of messages from one client after a pause: the candidates for a full room are sent at once.
    public var maximumMessageBurst = 4000
    /// The sustained rate of WebSocket frames from one client, per second, and the burst after a pause.
    public var maximumFramesPerSecond = 400
    public var maximumFrameBurst = 8000
    /// The sustained rate of message bytes from one client, per second, and the burst after a pause.
    public var maximumBytesPerSecond = 1024 * 1024
    public var maximumByteBurst = 4 * 1024 * 1024
    /// The sustained rate of joins by one client, per second, and the burst after a pause.
    public var maximumJoinsPerSecond = 2
    public var maximumJoinBurst = 20
    /// Messages that are not of the protocol. They are ignored; one more than this closes the connection.
    public var maximumUnusableMessages = 50

    /// The silence after which the server pings a client.
    public var pingInterval: Duration = .seconds(15)
    /// The further silence after which a client counts as gone.
    public var pingTimeout: Duration = .seconds(10)
    /// The timeout of the closing handshake.
    public var closeTimeout: Duration = .seconds(2)
    /// A client that has not joined a room by then is dropped.
    public var joinTimeout: Duration = .seconds(60)

    /// The time from the TCP connection to the end of the request; the response has the same time again.
    public var requestTimeout: Duration = .seconds(10)
    /// The size of all headers of a request together, in bytes.
    public var maximumHeaderBytes = 16 * 1024

    public init() {}
  }
}
