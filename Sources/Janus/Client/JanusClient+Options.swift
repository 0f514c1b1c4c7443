public import HTTPTransport
public import Media

extension JanusClient {
  /// What to join, how to reach the server, and the limits for what it sends.
  public struct Options: Sendable, CustomStringConvertible {
    /// The room's id.
    public var room: JanusID
    /// The room's PIN. It is never logged.
    public var pin: String?
    /// Our name for people.
    public var displayName: String?
    /// Whether we publish: the participant `publisher` is announced, who receives our media.
    public var publishes = false
    /// Whether we receive the feeds of the room; each is announced as a participant.
    public var receives = true
    /// The codecs that we publish.
    public var audioCodec: Codec
    public var videoCodec: Codec
    /// The API secret of the server. It is never logged.
    public var apiSecret: String?
    /// The token of the server's token authentication. It is never logged.
    public var token: String?
    /// The token of the room's access control. It is never logged.
    public var roomToken: String?
    /// The simulcast layer and the temporal layer to receive, each 0 to 2; other numbers are replaced by the nearest. A
    /// server sends the next lower layer while this one does not arrive.
    public var videoLayer: (substream: Int, temporal: Int) = (2, 2)

    /// The certificates to trust with `wss`.
    public var trust = TLSTrust.system
    /// The timeout for TCP, TLS and the upgrade together.
    public var connectTimeout: Duration = .seconds(10)
    /// The timeout from the open WebSocket to the join of the room.
    public var joinTimeout: Duration = .seconds(10)
    /// The timeout for the response to each later request.
    public var responseTimeout: Duration = .seconds(10)
    /// The timeout for the server's confirmation that we have left.
    public var leaveTimeout: Duration = .seconds(2)
    /// The time between keep-alives; a server ends a session after 60 s without one, unless configured otherwise.
    public var keepaliveInterval: Duration = .seconds(25)
    /// The silence of the server after which the client sends a WebSocket ping.
    public var pingInterval: Duration = .seconds(10)
    /// The further silence after which the connection counts as lost.
    public var pingTimeout: Duration = .seconds(10)
    /// The minimum and the maximum wait before the next attempt to connect.
    public var minimumRetryDelay: Duration = .milliseconds(500)
    public var maximumRetryDelay: Duration = .seconds(30)
    /// The age of a connection from which on its loss resets the wait to the minimum.
    public var backoffResetAge: Duration = .seconds(5)
    /// The maximum number of feeds. Further ones are ignored.
    public var maximumParticipants = 256
    /// The maximum number of events that wait in `events`.
    public var maximumWaitingEvents = 4096

    public init(room: JanusID) {
      self.room = room
      audioCodec = .preferred(for: .audio)
      videoCodec = .preferred(for: .video)
    }

    /// Without secrets.
    public var description: String { "\(configuration)" }

    var configuration: JanusSession.Configuration {
      var configuration = JanusSession.Configuration(room: room)
      configuration.audioCodec = audioCodec
      configuration.videoCodec = videoCodec
      configuration.pin = pin
      configuration.display = displayName
      configuration.publishes = publishes
      configuration.receives = receives
      configuration.apiSecret = apiSecret
      configuration.token = token
      configuration.roomToken = roomToken
      configuration.substream = min(max(videoLayer.substream, 0), 2)
      configuration.temporal = min(max(videoLayer.temporal, 0), 2)
      configuration.joinTimeout = joinTimeout
      configuration.responseTimeout = responseTimeout
      configuration.keepaliveInterval = keepaliveInterval
      configuration.maximumParticipants = maximumParticipants
      return configuration
    }

    var webSocket: WebSocketClient.Options {
      var options = WebSocketClient.Options()
      options.trust = trust
      options.connectTimeout = connectTimeout
      options.headers = [("Sec-WebSocket-Protocol", "janus-protocol")]
      options.limits.maximumMessageBytes = JanusMessage.maximumBytes
      options.limits.pingInterval = pingInterval
      options.limits.pingTimeout = pingTimeout
      options.limits.closeTimeout = .seconds(1)
      return options
    }
  }
}
