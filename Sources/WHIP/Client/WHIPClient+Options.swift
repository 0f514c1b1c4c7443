public import HTTPTransport

extension WHIPClient {
  /// What we do at the server.
  public enum Role: Sendable, Hashable, CustomStringConvertible {
    /// We publish media to it with WHIP (RFC 9725).
    case publisher
    /// We play media from it with WHEP (draft-ietf-wish-whep).
    case player

    /// The name of the protocol.
    public var description: String { self == .publisher ? "WHIP" : "WHEP" }
  }

  /// How to reach the server, and the limits for what it sends.
  public struct Options: Sendable {
    /// The token that authorizes the requests. It is sent only to the origin of the endpoint's URL.
    public var token: BearerToken?
    /// The certificates to trust with `https`.
    public var trust = TLSTrust.system
    /// The timeout for TCP and TLS together.
    public var connectTimeout: Duration = .seconds(10)
    /// The timeout for the response to an offer or an answer.
    public var responseTimeout: Duration = .seconds(10)
    /// The timeout for the response to trickled candidates; without one, no more are sent.
    public var trickleTimeout: Duration = .seconds(2)
    /// How long candidates are collected before they are sent together.
    public var trickleDelay: Duration = .milliseconds(50)
    /// The timeout for the end of the session in ``WHIPClient/leave()``.
    public var leaveTimeout: Duration = .seconds(2)
    /// Whether ``WHIPClient/connect()`` sends an OPTIONS request, which shows whether a server listens, and to which
    /// some servers respond with their ICE servers (RFC 9725, 4.6). Others name them only in the response to the offer.
    public var requestsOptions = true
    /// Whether a player repeats its offer when the server does not know the stream yet (404), instead of giving up.
    public var waitsForStream = false
    /// Whether redirects and addresses of sessions may lead to another origin than the endpoint's. Never followed are those
    /// from https to http, and into a narrower network than that of the server that names them: a private one, or this
    /// machine.
    public var followsOtherOrigins = false
    /// The minimum and the maximum wait before the next attempt.
    public var minimumRetryDelay: Duration = .milliseconds(500)
    public var maximumRetryDelay: Duration = .seconds(30)
    /// The age of a session from which on its loss resets the wait to the minimum.
    public var backoffResetAge: Duration = .seconds(5)
    /// The maximum size of a response in bytes.
    public var maximumResponseBytes = 256 * 1024
    /// The maximum number of events that wait in ``WHIPClient/events``.
    public var maximumWaitingEvents = 4_096

    public init() {}
  }
}
