package import Media

/// When a node asks the database for what, whether it reaches it, and what it may do therefore. Pure.
package struct NodePresence: Sendable, Hashable {
  package struct Limits: Sendable, Hashable {
    /// How long a node has a job without renewing its lease.
    package var lease = Duration.seconds(30)
    package var renewEach = Duration.seconds(10)
    /// How often the node looks for jobs and commands.
    package var lookEach = Duration.seconds(2)
    /// How long after a look the next one comes at least, whatever was announced meanwhile.
    package var looksApart = Duration.milliseconds(500)
    /// How often it tries to reach a database that it could not reach.
    package var tryEach = Duration.seconds(2)

    package init() {}
  }

  package enum Duty: Sendable, Hashable {
    /// Say that the node is there, and renew its leases.
    case renew
    /// Look for jobs to begin and commands to carry out.
    case look
  }

  package let limits: Limits
  /// Since when each attempt to reach the database has succeeded; nil while it cannot be reached.
  package private(set) var presentSince: MonotonicInstant?
  private var lastReached: MonotonicInstant
  private var nextRenewal: MonotonicInstant
  private var nextLook: MonotonicInstant
  private var lastLook: MonotonicInstant?

  package init(limits: Limits = Limits(), at now: MonotonicInstant) {
    self.limits = limits
    presentSince = now
    lastReached = now
    nextRenewal = now
    nextLook = now
  }

  /// Whether the database could not be reached when it was tried last.
  package var isCutOff: Bool { presentSince == nil }

  /// Returns what is to be done now. Its result must be reported by ``reached(at:)`` or ``failed(at:)``.
  package mutating func due(at now: MonotonicInstant) -> [Duty] {
    var duties: [Duty] = []
    if now >= nextRenewal {
      duties.append(.renew)
      nextRenewal = now + (isCutOff ? limits.tryEach : limits.renewEach)
    }
    if !isCutOff, now >= nextLook {
      duties.append(.look)
      nextLook = now + limits.lookEach
      lastLook = now
    }
    return duties
  }

  /// Somebody said that there is something. Many nodes hear of it, and none looks more often than twice a second therefore.
  package mutating func lookSoon(at now: MonotonicInstant) {
    nextLook = min(nextLook, max(now, lastLook.map { $0 + limits.looksApart } ?? now))
  }

  /// The database has answered.
  package mutating func reached(at now: MonotonicInstant) {
    // A node that was suspended for the time of a lease is as one that was cut off.
    if presentSince == nil || now - lastReached > limits.lease {
      presentSince = now
      nextRenewal = now
    }
    lastReached = max(lastReached, now)
  }

  /// The database cannot be reached.
  package mutating func failed(at now: MonotonicInstant) {
    presentSince = nil
    nextRenewal = min(nextRenewal, now + limits.tryEach)
  }

  /// Whether the node may take jobs whose lease has ended. After an outage all leases have ended: the nodes that have the jobs get the
  /// time of a lease to renew them.
  package func mayTakeOver(at now: MonotonicInstant) -> Bool {
    guard let presentSince else { return false }
    return now - presentSince >= limits.lease
  }

  /// Whether the node may end jobs that have waited too long for capacity. After an outage each node gets the time to look for those
  /// that became due meanwhile.
  package func mayEndWaits(at now: MonotonicInstant) -> Bool {
    guard let presentSince else { return false }
    return now - presentSince >= limits.lookEach * 5
  }
}
