package import Media

/// Decides when the NAT64 prefix of the network is looked up, and what follows from the answer (RFC 7050, 3).
///
/// It is needed only while this machine has IPv6 addresses and no IPv4 address. A lookup that takes longer than 5 s counts as
/// failed. After a failure the next one follows 2 s later, then 4 s, 8 s … up to 60 s. A network whose resolver knows no such
/// name has no NAT64; it is asked again when the addresses of this machine change.
///
/// ```
///  idle ──► due ──► lookingUp ──► concluded ──(the network changed)──► due
///            ▲          │
///            └──(pause)─┘ failed or too late
/// ```
///
/// Left out on purpose: the lifetime of the answer, its validation by DNSSEC (RFC 7050, 3.1), and PREF64 of router
/// advertisements (RFC 8781).
package struct NAT64Discovery: Sendable {
  package enum Action: Sendable, Hashable {
    /// The IPv6 addresses of ``NAT64Prefix/discoveryName`` must be looked up, and passed to ``answered(_:now:)``. At most
    /// one lookup is in progress at a time.
    case lookUp
    /// The prefix has changed; nil if the network has none, or this machine has an IPv4 address again.
    case changed(NAT64Prefix?)
  }

  private enum State: Sendable {
    case idle
    case due(MonotonicInstant)
    case lookingUp(until: MonotonicInstant)
    case concluded
  }

  /// How long a lookup may take.
  package static let timeout = Duration.seconds(5)
  private static let firstPause = Duration.seconds(2)
  private static let maximumPause = Duration.seconds(60)

  /// The prefix of the network, as far as it is known.
  package private(set) var prefix: NAT64Prefix?
  private var state = State.idle
  private var pause = firstPause
  /// Whether a lookup has been requested and not answered. It may belong to a former network.
  private var isBusy = false
  private var isOutdated = false
  /// Whether a lookup has ended, in any way, since the network changed.
  private var hasResult = false
  private var reported: NAT64Prefix?

  package init() {}

  /// Whether the first lookup in this network has not ended yet.
  package var isDiscovering: Bool {
    switch state {
    case .idle, .concluded: false
    case .due, .lookingUp: !hasResult
    }
  }

  /// The time of the next `poll`, or nil when nothing is scheduled.
  package var deadline: MonotonicInstant? {
    switch state {
    case .idle, .concluded: nil
    case .due(let time): isBusy ? nil : time
    case .lookingUp(let end): end
    }
  }

  /// The addresses of this machine are known, or have changed.
  ///
  /// - Parameter isNeeded: whether there is an IPv6 address, and no IPv4 address; loopback does not count.
  package mutating func networkChanged(isNeeded: Bool, now: MonotonicInstant) {
    hasResult = false
    pause = Self.firstPause
    isOutdated = isBusy
    state = isNeeded ? .due(now) : .idle
    if !isNeeded { prefix = nil }
  }

  /// A lookup has ended.
  ///
  /// - Parameter addresses: nil if no server has answered; empty if the name has no IPv6 address.
  package mutating func answered(_ addresses: [IPAddress]?, now: MonotonicInstant) {
    isBusy = false
    if isOutdated {
      isOutdated = false
      return
    }
    switch state {
    case .idle, .concluded: return
    case .due, .lookingUp: break
    }
    guard let addresses else { return failed(now: now) }
    hasResult = true
    state = .concluded
    prefix = NAT64Prefix.found(in: addresses).first
  }

  private mutating func failed(now: MonotonicInstant) {
    hasResult = true
    state = .due(now + pause)
    pause = min(pause * 2, Self.maximumPause)
  }

  /// Returns what is due.
  package mutating func poll(now: MonotonicInstant) -> [Action] {
    var actions: [Action] = []
    if case .lookingUp(let end) = state, end <= now { failed(now: now) }
    if case .due(let time) = state, time <= now, !isBusy {
      isBusy = true
      state = .lookingUp(until: now + Self.timeout)
      actions.append(.lookUp)
    }
    if prefix != reported {
      reported = prefix
      actions.append(.changed(prefix))
    }
    return actions
  }
}
