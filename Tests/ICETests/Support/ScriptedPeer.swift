import ICE
import Media
import NIOCore
import TestSupport

/// A peer that answers checks correctly and sends only planned checks: without a plan an ICE lite agent, with
/// nominations on all pairs an aggressively nominating one.
struct ScriptedPeer: Node {
  struct PlannedCheck {
    let time: MonotonicInstant
    let from: TransportAddress
    let to: TransportAddress
    var nominates = false
  }

  let hosts: [TransportAddress]
  let credentials: ICECredentials
  let remote: ICECredentials
  var role = ICEAgent.Role.controlled
  var plan: [PlannedCheck] = []
  var answers = true
  /// Whether its responses name the address that the check came from, as RFC 8445, 7.2.5.2.1 requires.
  var namesAddress = true
  /// The received messages, by class.
  private(set) var requests: [STUNMessage] = []
  private(set) var responses: [STUNMessage] = []
  private var actions: [ICEAgent.Action] = []
  private var wake: MonotonicInstant?
  private var generator = SeededGenerator(seed: 99)

  init(hosts: [TransportAddress], credentials: ICECredentials, remote: ICECredentials) {
    self.hosts = hosts
    self.credentials = credentials
    self.remote = remote
  }

  var deadline: MonotonicInstant? { wake ?? plan.map(\.time).min() }

  mutating func take(
    _ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, now: MonotonicInstant
  ) {
    guard let message = try? STUNMessage(parsing: datagram) else { return }
    guard message.kind == .request else {
      responses.append(message)
      return
    }
    requests.append(message)
    guard answers, message.isAuthentic(key: Array(credentials.password.utf8)) else { return }
    var response = STUNMessage(.success, transactionID: message.transactionID)
    if namesAddress { response.xorMappedAddress = from }
    actions.append(.send(response.encoded(integrityKey: Array(credentials.password.utf8)), from: to, to: from))
    wake = now
  }

  mutating func poll(now: MonotonicInstant) -> [ICEAgent.Action] {
    for check in plan where check.time <= now {
      actions.append(.send(request(nominates: check.nominates), from: check.from, to: check.to))
    }
    plan.removeAll { $0.time <= now }
    wake = nil
    defer { actions = [] }
    return actions
  }

  func takesMedia(from source: TransportAddress, to local: TransportAddress) -> Bool { hosts.contains(local) }

  /// Returns a check by this peer.
  mutating func request(nominates: Bool = false, priority: UInt32 = 0x6EFF_FFFF) -> ByteBuffer {
    var message = STUNMessage(.request, transactionID: .random(using: &generator))
    message.username = "\(remote.usernameFragment):\(credentials.usernameFragment)"
    message.priority = priority
    if role == .controlling { message.iceControlling = 1 } else { message.iceControlled = 1 }
    message.usesCandidate = nominates
    return message.encoded(integrityKey: Array(remote.password.utf8))
  }
}
