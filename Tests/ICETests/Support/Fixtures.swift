import ICE
import Media
import NIOCore
import TestSupport

/// Returns an address from valid text; the unspecified address, which is unreachable, for any other text.
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
  /// Polls the only agent of a process, with a pacer of its own.
  mutating func poll(now: MonotonicInstant) -> [Action] { poll(now: now, pace: CheckPacer()) }

  mutating func know(_ credentials: ICECredentials, isLite: Bool = false, now: MonotonicInstant) {
    setRemote(
      usernameFragment: credentials.usernameFragment, password: credentials.password, isLite: isLite, now: now)
  }

  mutating func know(_ candidates: [ICECandidate], now: MonotonicInstant) {
    for candidate in candidates { addRemoteCandidate(candidate, now: now) }
  }
}

extension SimulatedPath where Right == ICEAgent {
  /// Creates two agents without each other's credentials and candidates; by default the left one is controlling.
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

  /// Whether both sides have agreed on a pair.
  var isComplete: Bool { left.state == .completed && right.state == .completed }

  /// Whether both sides use the same pair.
  var isAgreed: Bool {
    guard let ours = left.selectedPair, let theirs = right.selectedPair else { return false }
    return ours.local == theirs.remote && ours.remote == theirs.local
  }
}

extension SimulatedPath {
  /// Returns the states that one side has reported, in order.
  func states(of side: Side) -> [ICEAgent.State] {
    events.compactMap { event in
      guard event.side == side, case .state(let state) = event.action else { return nil }
      return state
    }
  }

  /// Returns the time at which one side first reported a state.
  func time(of state: ICEAgent.State, at side: Side) -> Duration? {
    events.first { $0.side == side && $0.action == .state(state) }?.time
  }
}

/// Returns the bytes of hexadecimal text; other characters are ignored.
func bytes(_ hex: String) -> ByteBuffer {
  let digits = hex.compactMap(\.hexDigitValue)
  return ByteBuffer(bytes: stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
}
