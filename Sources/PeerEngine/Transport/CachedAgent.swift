internal import ICE
internal import Media
internal import NIOCore

/// The ICE agent, and what it is asked for often but computes slowly: its deadline, and whether a path is valid. Both are
/// kept until the agent changes.
struct CachedAgent {
  var agent: ICEAgent {
    // Whoever changes the agent cannot forget it, and the agent changes in place.
    didSet { hasChanged = true }
  }
  /// Whether something has happened to the agent since the last poll.
  private(set) var hasChanged = true
  /// The agent's deadline as of the last poll.
  private var polledDeadline: MonotonicInstant?
  /// The path that was last found valid since the last poll.
  private var validPath: ICETransport.Path?
  private var namesToResolve: [String] = []

  init(_ agent: ICEAgent) { self.agent = agent }

  // The getter changes nothing. It is mutating because Swift may copy a value of this size before a nonmutating call.
  var deadline: MonotonicInstant? {
    mutating get { hasChanged ? agent.deadline : polledDeadline }
  }

  func isDue(now: MonotonicInstant) -> Bool { hasChanged || Deadline.isDue(polledDeadline, now: now) }

  /// Returns the datagrams to send.
  mutating func poll(now: MonotonicInstant, pace: CheckPacer) -> [(datagram: ByteBuffer, path: ICETransport.Path)] {
    let actions = agent.poll(now: now, pace: pace)
    namesToResolve += agent.takeNamesToResolve()
    polledDeadline = agent.deadline
    validPath = nil
    hasChanged = false
    return actions.compactMap { action in
      guard case .send(let datagram, let local, let remote) = action else { return nil }
      return (datagram, ICETransport.Path(local: local, remote: remote))
    }
  }

  /// Returns whether an ICE check has validated that the participant is at the other end of this path.
  mutating func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    if !hasChanged, let validPath, validPath.remote == remote, validPath.local == local { return true }
    guard agent.isValidated(local: local, remote: remote) else { return false }
    if !hasChanged { validPath = ICETransport.Path(local: local, remote: remote) }
    return true
  }

  /// Returns the names of candidates that became known before the last poll.
  mutating func takeNamesToResolve() -> [String] {
    if namesToResolve.isEmpty { return [] }
    defer { namesToResolve = [] }
    return namesToResolve
  }
}
