package import Signalling

extension WHIPServer {
  /// What the server requires, and its limits.
  package struct Options: Sendable {
    /// The tokens of which a request must have one.
    package var tokens = TokenList()
    /// The ICE servers that clients are told.
    package var iceServers: [ICEServer] = []
    /// Returns them anew for each client, with credentials of limited time; in place of ``iceServers``.
    package var makeICEServers: (@Sendable () -> [ICEServer])?
    /// The origins of pages that may use the server; nil for all. Programs send no origin and are always allowed.
    package var allowedOrigins: Set<String>?
    /// Whether a room may have several publishers at once.
    package var allowsSeveralPublishers = true
    /// How long a client waits for the answer of the peer.
    package var answerTimeout: Duration = .seconds(10)
    /// The maximum size of a request's body in bytes.
    package var maximumBodyBytes = 64 * 1024
    package var maximumSessions = 256
    /// The limits for each address do not apply to this machine, where a proxy may be.
    package var maximumSessionsPerAddress = 32
    /// The maximum number of trickled candidates of a session; further ones are ignored.
    package var maximumCandidates = 256
    /// New sessions a second on average, and at once after a pause.
    package var sessionsPerSecond = 10
    package var sessionBurst = 50
    package var sessionsPerSecondPerAddress = 2
    package var sessionBurstPerAddress = 32
    /// All requests a second on average, and at once after a pause. They slow down guessing of session ids too.
    package var requestsPerSecond = 200
    package var requestBurst = 1_000
    package var requestsPerSecondPerAddress = 50
    package var requestBurstPerAddress = 300
    /// What `Retry-After` says when a limit is reached.
    package var retryAfter: Duration = .seconds(2)

    package init() {}
  }
}
