package import Media
package import NIOCore

/// Measures how the NAT before two sockets maps (RFC 5780, 4.3) and filters (RFC 5780, 4.4), with one STUN server.
///
/// A pure value without I/O or clock: bytes and the time are inputs; `poll` returns the datagrams to send, and
/// `deadline` is the time of the next poll. Poll after every other call as well.
///
/// - Mapping: the mapped address at the server is compared with that at the server's other address, and then with that
///   at the other address and port. A server without a second address is compared with other servers instead.
/// - Filtering, from a socket of its own, which has sent to no other address: the server is asked to answer from its
///   other address and port, and from its other port.
/// - Both begin at the same time. A request is sent after 0, 0.5, 1.5, 3.5 … s until its patience ends.
///
/// Limits: at most two other servers are asked; an OTHER-ADDRESS in a private network is used only if the server is
/// there as well, because it could name any machine.
package struct NATBehaviorProbe: Sendable {
  /// The two local sockets.
  package enum Origin: Sendable, Hashable {
    case mapping
    case filtering
  }

  package struct Transmission: Sendable, Hashable {
    package let datagram: ByteBuffer
    package let destination: TransportAddress
    package let origin: Origin
  }

  private enum Step: Sendable, Hashable {
    case mappingAtServer
    case mappingAtOtherAddress
    case mappingAtOtherAddressAndPort
    /// The index of another server.
    case mappingElsewhere(Int)
    case filteringAtServer
    case filteringOtherAddressAndPort
    case filteringOtherPort

    var origin: Origin {
      switch self {
      case .filteringAtServer, .filteringOtherAddressAndPort, .filteringOtherPort: .filtering
      default: .mapping
      }
    }
  }

  private struct Request: Sendable {
    let step: Step
    let id: STUNTransactionID
    let datagram: ByteBuffer
    let destination: TransportAddress
    let expiry: MonotonicInstant
    var sentAt: MonotonicInstant?
    var deadline: MonotonicInstant
    var timeout = NATBehaviorProbe.firstTimeout
  }

  private static let firstTimeout = Duration.milliseconds(500)
  private static let maximumServers = 2

  /// What is known; complete when ``isDone``.
  package private(set) var behavior = NATBehavior()
  private let server: TransportAddress
  private let otherServers: [TransportAddress]
  private let local: TransportAddress
  private let nat64: NAT64Prefix?
  private let patience: Duration
  private let testPatience: Duration
  private var requests: [Request] = []
  private var other: TransportAddress?
  private var secondMapped: TransportAddress?
  /// Whether the server's other address has answered.
  private var otherAnswers = false
  private var testsFiltering = false
  private var answersFromOtherPort = false
  private var generator: any RandomNumberGenerator & Sendable

  /// - Parameters:
  ///   - otherServers: STUN servers to compare with if the server has no second address.
  ///   - local: the address of the socket of ``Origin/mapping``, not the unspecified one.
  ///   - nat64: the prefix by which a server with an IPv4 address is reached, and its other address.
  ///   - patience: how long the server may take for the first answer.
  ///   - testPatience: how long each further test waits.
  package init(
    server: TransportAddress, otherServers: [TransportAddress] = [], local: TransportAddress,
    nat64: NAT64Prefix? = nil, patience: Duration, testPatience: Duration, now: MonotonicInstant,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.server = server
    self.otherServers = Array(
      otherServers.filter { $0.family == server.family && $0.ip != server.ip && $0.isReachable }
        .prefix(Self.maximumServers))
    self.local = local
    self.nat64 = nat64
    self.patience = patience
    self.testPatience = testPatience
    self.generator = generator
    begin(.mappingAtServer, at: server, patience: patience, now: now)
    begin(.filteringAtServer, at: server, patience: patience, now: now)
  }

  package var isDone: Bool { requests.isEmpty }

  package var deadline: MonotonicInstant? { requests.map(\.deadline).min() }

  private mutating func begin(
    _ step: Step, at destination: TransportAddress, change: STUNChangeRequest? = nil, patience: Duration? = nil,
    now: MonotonicInstant
  ) {
    var message = STUNMessage(.request, transactionID: .random(using: &generator))
    message.changeRequest = change
    requests.append(
      Request(
        step: step, id: message.transactionID, datagram: message.encoded(integrityKey: nil), destination: destination,
        expiry: now + (patience ?? testPatience), deadline: now))
  }

  /// Returns the datagrams that are due.
  package mutating func poll(now: MonotonicInstant) -> [Transmission] {
    for request in requests where request.expiry <= now {
      requests.removeAll { $0.id == request.id }
      unanswered(request.step, now: now)
    }
    var due: [Transmission] = []
    for index in requests.indices where requests[index].deadline <= now {
      let request = requests[index]
      requests[index].sentAt = now
      requests[index].deadline = min(now + request.timeout, request.expiry)
      requests[index].timeout = request.timeout * 2
      due.append(
        Transmission(datagram: request.datagram, destination: request.destination, origin: request.step.origin))
    }
    return due
  }

  /// Processes a datagram that arrived at one of the sockets. Anything but an answer to a request is ignored.
  package mutating func received(
    _ datagram: ByteBuffer, from source: TransportAddress, at origin: Origin, now: MonotonicInstant
  ) {
    guard let message = try? STUNMessage(parsing: datagram), message.kind == .success || message.kind == .errorResponse,
      message.method == .binding, message.hasValidFingerprint ?? true, !message.hasUnknownAttribute,
      let index = requests.firstIndex(where: { $0.id == message.transactionID && $0.step.origin == origin })
    else { return }
    let request = requests[index]
    guard let sentAt = request.sentAt else { return }
    switch request.step {
    case .filteringOtherAddressAndPort, .filteringOtherPort:
      requests.remove(at: index)
      answered(request.step, by: message, from: source)
    default:
      guard source == request.destination else { return }
      requests.remove(at: index)
      let mapped = (message.xorMappedAddress ?? message.mappedAddress).flatMap {
        message.kind == .success && $0.isReachable && $0.isMapping(of: local) ? $0 : nil
      }
      if request.step == .mappingAtServer {
        guard let mapped else { return failed(message) }
        behavior.roundTrip = now - sentAt
        foundFirst(mapped, message, now: now)
      } else if request.step == .filteringAtServer {
        if let other = usableOther(in: message) {
          self.other = other
          testsFiltering = true
          begin(.filteringOtherAddressAndPort, at: server, change: [.address, .port], now: now)
          begin(.filteringOtherPort, at: server, change: .port, now: now)
        } else if message.kind == .success {
          behavior.filteringMethod = "the server has no second address (OTHER-ADDRESS, RFC 5780)"
        }
      } else if let mapped {
        found(mapped, in: request.step, at: request.destination, now: now)
      } else {
        unanswered(request.step, now: now)
      }
    }
  }

  private mutating func failed(_ message: STUNMessage) {
    if let error = message.errorCode {
      let reason = error.reason.isEmpty ? "" : ", \"\(TURNFailure.printable(error.reason))\""
      behavior.failure = "The STUN server refused the request (error \(error.code)\(reason))."
    } else {
      behavior.failure = "The answer of the STUN server has no mapped address."
    }
    requests = []
  }

  private func usableOther(in message: STUNMessage) -> TransportAddress? {
    let named = message.otherAddress ?? message.changedAddress
    let synthesized = server.family == .v6 ? named.flatMap { nat64?.synthesized(from: $0) } : nil
    guard message.kind == .success, let other = synthesized ?? named, other.isReachable,
      other.family == server.family, other.ip != server.ip, !other.ip.isLocal || server.ip.isLocal
    else { return nil }
    return other
  }

  // MARK: Mapping

  private mutating func foundFirst(_ mapped: TransportAddress, _ message: STUNMessage, now: MonotonicInstant) {
    behavior.mapped = mapped
    if mapped == local {
      behavior.mapping = .noTranslation
      behavior.mappingMethod = "the mapped address is that of the socket"
    }
    if let other = usableOther(in: message) {
      self.other = other
      begin(.mappingAtOtherAddress, at: TransportAddress(ip: other.ip, port: server.port), now: now)
    } else if behavior.mapping == nil {
      compareElsewhere(0, instead: "the server has no second address (OTHER-ADDRESS, RFC 5780)", now: now)
    }
  }

  private mutating func compareElsewhere(_ index: Int, instead reason: String, now: MonotonicInstant) {
    guard index < otherServers.count else {
      behavior.mappingMethod = "\(reason), and no other STUN server could be compared"
      return
    }
    begin(.mappingElsewhere(index), at: otherServers[index], now: now)
  }

  private mutating func found(
    _ mapped: TransportAddress, in step: Step, at destination: TransportAddress, now: MonotonicInstant
  ) {
    if step == .mappingAtOtherAddress {
      otherAnswers = true
      endFiltering()
    }
    guard behavior.mapping != .noTranslation else { return }
    let isSame = mapped == behavior.mapped
    behavior.mappingMethod = "compared at \(server) and \(destination)"
    switch step {
    case .mappingAtOtherAddress where !isSame:
      secondMapped = mapped
      if let other { begin(.mappingAtOtherAddressAndPort, at: other, now: now) }
    case .mappingAtOtherAddressAndPort:
      behavior.mapping = mapped == secondMapped ? .addressDependent : .addressAndPortDependent
    default: behavior.mapping = isSame ? .endpointIndependent : .dependent
    }
  }

  // MARK: Filtering

  private mutating func answered(_ step: Step, by message: STUNMessage, from source: TransportAddress) {
    if message.kind == .errorResponse || source == server {
      requests.removeAll { $0.step.origin == .filtering }
      behavior.filteringMethod =
        message.errorCode.map { "the server refuses CHANGE-REQUEST (error \($0.code))" }
        ?? "the server ignores CHANGE-REQUEST"
    } else if step == .filteringOtherAddressAndPort, source.ip != server.ip {
      requests.removeAll { $0.step.origin == .filtering }
      behavior.filtering = .endpointIndependent
      behavior.filteringMethod = "an answer from \(source) arrived"
    } else if step == .filteringOtherPort, source.ip == server.ip {
      answersFromOtherPort = true
      endFiltering()
    }
  }

  /// Draws the conclusion when both tests have ended, and that which shows whether the second address answers at all.
  private mutating func endFiltering() {
    guard testsFiltering, behavior.filtering == nil, behavior.filteringMethod == nil, let other,
      !requests.contains(where: {
        $0.step.origin == .filtering || $0.step == .mappingAtServer || $0.step == .mappingAtOtherAddress
      })
    else { return }
    guard otherAnswers else {
      behavior.filteringMethod = "the server's second address \(other.ip) does not answer"
      return
    }
    behavior.filtering = answersFromOtherPort ? .addressDependent : .addressAndPortDependent
    behavior.filteringMethod =
      answersFromOtherPort
      ? "an answer from another port of the server arrived, none from \(other)"
      : "no answer from another address or port of the server arrived"
  }

  private mutating func unanswered(_ step: Step, now: MonotonicInstant) {
    switch step {
    case .mappingAtServer:
      behavior.failure =
        "The STUN server does not answer over UDP: check its address and port, and whether UDP is blocked."
      requests = []
    case .mappingAtOtherAddress:
      if behavior.mapping == nil {
        compareElsewhere(0, instead: "the server's second address does not answer", now: now)
      }
      endFiltering()
    case .mappingAtOtherAddressAndPort: behavior.mapping = .dependent
    case .mappingElsewhere(let index):
      compareElsewhere(index + 1, instead: "the servers give no second mapped address", now: now)
    case .filteringOtherAddressAndPort, .filteringOtherPort: endFiltering()
    case .filteringAtServer: behavior.filteringMethod = "the server did not answer a second socket"
    }
  }
}
