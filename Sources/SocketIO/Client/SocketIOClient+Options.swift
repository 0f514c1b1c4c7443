public import HTTPTransport
internal import Media

extension SocketIOClient {
  /// How to reach the server, how to call, and the limits for what the server sends.
  public struct Options: Sendable {
    /// The certificates to trust with `https`.
    public var trust = TLSTrust.system
    /// The time-out for TCP, TLS and the upgrade, or for the first response of long polling; for each attempt.
    public var connectTimeout: Duration = .seconds(10)
    /// The time-out for the handshakes of Engine.IO and Socket.IO, and again for the answer to the login.
    public var joinTimeout: Duration = .seconds(10)
    /// How long a called user may take to answer, and a caller to send the offer.
    public var responseTimeout: Duration = .seconds(30)
    /// The wait before a user who refused is called again.
    public var callRetryDelay: Duration = .seconds(3)
    /// How many times each user is called until they accept.
    public var maximumCallAttempts = 2
    /// The maximum number of calls at a time. Further callers are refused, and further users are called when a call
    /// ends.
    public var maximumCalls = 256
    /// The silence of the server after which a WebSocket ping is sent, beside the pings of Engine.IO.
    public var pingInterval: Duration = .seconds(10)
    /// The further silence after which the connection counts as lost.
    public var pingTimeout: Duration = .seconds(10)
    /// The minimum and the maximum wait before the next attempt to connect.
    public var minimumRetryDelay: Duration = .milliseconds(500)
    public var maximumRetryDelay: Duration = .seconds(30)
    /// The age of a connection from which on its loss resets the wait to the minimum.
    public var backoffResetAge: Duration = .seconds(5)
    /// The time-out of closing the connection.
    public var closeTimeout: Duration = .seconds(1)
    /// The maximum size of a message in bytes.
    public var maximumMessageBytes = 256 * 1024
    /// The maximum number of events that wait in `events`. When it is reached, the client reads no more messages, and
    /// 8,192 of them with 16 MiB wait. Beyond that the connection is closed and opened again.
    public var maximumWaitingEvents = 4_096

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

    var http: HTTPClient.Options {
      var options = HTTPClient.Options()
      options.trust = trust
      options.connectTimeout = connectTimeout
      return options
    }

    var session: SocketIOSession.Configuration {
      var configuration = SocketIOSession.Configuration()
      configuration.joinTimeout = joinTimeout
      configuration.maximumMessageBytes = maximumMessageBytes
      return configuration
    }

    func calls(_ users: [String]) -> CallControl.Configuration {
      var configuration = CallControl.Configuration()
      configuration.calls = users.map { ParticipantID($0) }
      configuration.maximumCalls = min(max(1, maximumCalls), 10_000)
      configuration.responseTimeout = responseTimeout
      configuration.retryDelay = callRetryDelay
      configuration.maximumAttempts = max(1, maximumCallAttempts)
      return configuration
    }
  }
}
