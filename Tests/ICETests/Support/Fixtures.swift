import ICE
import NIOCore
import TestSupport

/// An address from text that is known to be right; a wrong one gives the unspecified address, which reaches nobody.
func address(_ ip: String, _ port: UInt16 = 5_000) -> TransportAddress {
  TransportAddress(ip, port: port) ?? TransportAddress(ip: .v4(0), port: 0)
}

enum Known {
  static let left = address("192.0.2.1")
  static let right = address("192.0.2.2")
  static let leftV6 = address("2001:db8::1")
  static let rightV6 = address("2001:db8::2")
  static let leftCredentials = ICECredentials(usernameFragment: "leftleft", password: "left-password-of-24-chars")
  static let rightCredentials = ICECredentials(usernameFragment: "rightrig", password: "rightpassword-of-24-chars")
}

func agent(
  _ role: ICEAgent.Role, _ credentials: ICECredentials, hosts: [TransportAddress], tieBreaker: UInt64? = nil,
  seed: UInt64 = 7
) -> ICEAgent {
  var agent = ICEAgent(
    role: role, credentials: credentials, tieBreaker: tieBreaker, generator: SeededGenerator(seed: seed))
  for host in hosts { agent.addLocalHost(host) }
  return agent
}

extension ICEAgent {
  /// The only agent of its program: it keeps the pace by itself.
  mutating func poll(now: ContinuousClock.Instant) -> [Action] { poll(now: now, pace: CheckPacer()) }

  mutating func know(_ credentials: ICECredentials, isLite: Bool = false, now: ContinuousClock.Instant) {
    setRemote(
      usernameFragment: credentials.usernameFragment, password: credentials.password, isLite: isLite, now: now)
  }

  mutating func know(_ candidates: [ICECandidate], now: ContinuousClock.Instant) {
    for candidate in candidates { addRemoteCandidate(candidate, now: now) }
  }
}

extension SimulatedPath where Right == ICEAgent {
  /// Two agents that know nothing of each other; the left one controls unless told otherwise.
  static func agents(
    left: [TransportAddress] = [Known.left], right: [TransportAddress] = [Known.right],
    roles: (ICEAgent.Role, ICEAgent.Role) = (.controlling, .controlled), tieBreakers: (UInt64?, UInt64?) = (nil, nil),
    seed: UInt64 = 1
  ) -> SimulatedPath {
    SimulatedPath(
      left: agent(roles.0, Known.leftCredentials, hosts: left, tieBreaker: tieBreakers.0, seed: seed &* 2),
      right: agent(roles.1, Known.rightCredentials, hosts: right, tieBreaker: tieBreakers.1, seed: seed &* 2 &+ 1),
      seed: seed)
  }

  mutating func exchangeCredentials() {
    left.know(right.localCredentials, now: now)
    right.know(left.localCredentials, now: now)
  }

  mutating func exchangeCandidates() {
    left.know(right.localCandidates, now: now)
    right.know(left.localCandidates, now: now)
  }

  mutating func exchangeAll() {
    exchangeCredentials()
    exchangeCandidates()
  }

  /// Both sides have agreed, and on the same pair.
  var isComplete: Bool { left.state == .completed && right.state == .completed }

  /// Both sides use the same pair.
  var isAgreed: Bool {
    guard let ours = left.selectedPair, let theirs = right.selectedPair else { return false }
    return ours.local == theirs.remote && ours.remote == theirs.local
  }
}

extension SimulatedPath {
  /// The states that one side went through.
  func states(of side: Side) -> [ICEAgent.State] {
    events.compactMap { event in
      guard event.side == side, case .state(let state) = event.action else { return nil }
      return state
    }
  }

  /// When one side first came into a state.
  func time(of state: ICEAgent.State, at side: Side) -> Duration? {
    events.first { $0.side == side && $0.action == .state(state) }?.time
  }
}

/// Bytes from hexadecimal text; blanks do not count.
func bytes(_ hex: String) -> ByteBuffer {
  let digits = hex.compactMap(\.hexDigitValue)
  return ByteBuffer(bytes: stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
}
