extension ExecClient {
  /// What to join, and the limits for the program.
  public struct Options: Sendable, CustomStringConvertible, CustomReflectable {
    /// The room; nil for the default of the system.
    public var room: String?
    /// Our name.
    public var user: String?
    /// The users to call, where users call each other.
    public var callees: [String] = []
    /// The token of the server. It is never logged.
    public var token: String?
    /// Whether we send media, and whether we receive it, for systems that must know it when we join.
    public var sends = true
    public var receives = true
    /// The timeout for the program's `hello`.
    public var helloTimeout: Duration = .seconds(10)
    /// The timeout for its `joined`.
    public var joinTimeout: Duration = .seconds(10)
    /// The time in which the program ends after `leave`, and again after SIGTERM.
    public var leaveTimeout: Duration = .seconds(2)
    /// The minimum and the maximum wait before the program is started again.
    public var minimumRetryDelay: Duration = .milliseconds(500)
    public var maximumRetryDelay: Duration = .seconds(30)
    /// The age of a run of the program from which on its end resets the wait to the minimum.
    public var backoffResetAge: Duration = .seconds(5)
    /// The maximum number of other participants. Further ones are ignored.
    public var maximumParticipants = 256
    /// The maximum number of events that wait in `events`. Then the program's standard output is not read.
    public var maximumWaitingEvents = 4096

    public init() {}

    /// Without secrets.
    public var description: String { "options of a program that connects a signalling system" }

    /// Without secrets, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    func configuration(program: String) -> ExecSession.Configuration {
      var configuration = ExecSession.Configuration(program: program)
      configuration.helloTimeout = helloTimeout
      configuration.joinTimeout = joinTimeout
      configuration.hello.room = room
      configuration.hello.user = user
      configuration.hello.callees = callees
      configuration.hello.token = token
      configuration.hello.sends = sends
      configuration.hello.receives = receives
      configuration.hello.maximumParticipants = max(0, maximumParticipants)
      return configuration
    }
  }
}
