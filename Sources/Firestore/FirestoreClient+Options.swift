public import HTTPTransport

extension FirestoreClient {
  /// How to reach the database, and the times and limits of the signalling.
  public struct Options: Sendable {
    /// The address of the API without a path.
    public var server = "https://firestore.googleapis.com"
    public var credentials = FirestoreCredentials.none
    /// The certificates to trust with `https`.
    public var trust = TLSTrust.system
    /// The timeout for TCP and TLS together.
    public var connectTimeout: Duration = .seconds(10)
    /// The timeout of every request.
    public var responseTimeout: Duration = .seconds(10)
    /// The timeout for finding the room and deleting old documents.
    public var joinTimeout: Duration = .seconds(10)
    /// The timeout for deleting our documents at the end.
    public var leaveTimeout: Duration = .seconds(5)
    /// The time between two polls. Each one reads a document and, while a connection is being established, a list.
    public var pollInterval: Duration = .milliseconds(250)
    /// The time between two checks whether the room still exists.
    public var roomInterval: Duration = .seconds(10)
    /// The minimum and the maximum wait after a failed request.
    public var minimumRetryDelay: Duration = .milliseconds(500)
    public var maximumRetryDelay: Duration = .seconds(30)
    /// How long an unanswered offer of ours stays before it is written again.
    public var answerTimeout: Duration = .seconds(4)
    /// The maximum size of a response of the server in bytes.
    public var maximumResponseBytes = 1 << 20
    /// The maximum number of events that wait in `events`.
    public var maximumWaitingEvents = 4096
    package var identityServer = "https://identitytoolkit.googleapis.com"
    package var tokenServer = "https://securetoken.googleapis.com"
    package var timing = LayoutTiming()

    public init() {}

    /// Options as environment variables name them: `FIRESTORE_EMULATOR_HOST` (`host:port`, accessed without TLS as its
    /// owner), else the variables of ``FirestoreCredentials/fromEnvironment(_:)``. Blocks while it reads a file.
    public init(environment: [String: String]) throws(FirestoreCredentialsError) {
      if let emulator = environment["FIRESTORE_EMULATOR_HOST"], !emulator.isEmpty {
        server = "http://\(emulator)"
        credentials = .emulatorOwner
      } else {
        credentials = try .fromEnvironment(environment)
      }
    }

    var store: FirestoreStore.Configuration {
      var configuration = FirestoreStore.Configuration()
      configuration.server = server
      configuration.credentials = credentials
      configuration.trust = trust
      configuration.connectTimeout = connectTimeout
      configuration.responseTimeout = responseTimeout
      configuration.maximumResponseBytes = maximumResponseBytes
      configuration.identityServer = identityServer
      configuration.tokenServer = tokenServer
      return configuration
    }

    var layoutTiming: LayoutTiming {
      var timing = timing
      timing.answerTimeout = answerTimeout
      return timing
    }
  }
}
