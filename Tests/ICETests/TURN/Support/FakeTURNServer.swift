import ICE
import Media
import NIOCore

/// A TURN server in memory with the rules of RFC 8656 that a client can notice: challenges, stale nonces, lifetimes of
/// allocations, permissions and channels, quotas and refusals.
struct FakeTURNServer {
  struct Allocation {
    var relayed: [TransportAddress]
    var expiry: MonotonicInstant
    var permissions: [IPAddress: MonotonicInstant] = [:]
    var channels: [UInt16: (peer: TransportAddress, expiry: MonotonicInstant)] = [:]
  }

  var realm = "example.org"
  var users = ["user": "password"]
  /// Whether PASSWORD-ALGORITHMS is offered.
  var offersSHA256 = false
  var nonceLifetime = Duration.seconds(600)
  var grantedLifetime: UInt32 = 600
  var quota = 10
  /// Answers all requests of a method with this error, before or after the credentials are checked.
  var errors: [STUNMessage.Method: STUNErrorCode] = [:]
  var checksCredentialsFirst = true
  var forbiddenPeers: Set<IPAddress> = []
  var alternate: TransportAddress?
  var relaysV6 = false
  var callsEachNonceStale = false
  var signsErrors = true

  /// By the port of the client.
  private(set) var allocations: [UInt16: Allocation] = [:]
  /// What peers received: relayed payloads.
  private(set) var toPeers: [(peer: TransportAddress, payload: ByteBuffer)] = []
  private(set) var requests: [STUNMessage] = []
  private(set) var violations: [String] = []
  private var nonces: [ByteBuffer: MonotonicInstant] = [:]
  private var nonceCount = 0
  private var nextRelayedPort: UInt16 = 50_000
  private var answers: [STUNTransactionID: ByteBuffer] = [:]

  mutating func restart() {
    allocations = [:]
    nonces = [:]
    answers = [:]
    nextRelayedPort += 100
  }

  mutating func forgetAllocations() { allocations = [:] }
  mutating func clearRecords() {
    toPeers = []
    requests = []
  }

  func requests(_ method: STUNMessage.Method) -> [STUNMessage] { requests.filter { $0.method == method } }

  /// The frame in which a peer's payload reaches the client, or nil if the server drops it.
  mutating func frame(
    _ payload: ByteBuffer, from peer: TransportAddress, toPort port: UInt16, isStream: Bool,
    now: MonotonicInstant
  ) -> ByteBuffer? {
    guard let allocation = allocations[port], allocation.expiry > now,
      let permission = allocation.permissions[peer.ip], permission > now
    else { return nil }
    if let channel = allocation.channels.first(where: { $0.value.peer == peer && $0.value.expiry > now }) {
      return TURNChannelData.frame(payload, channel: channel.key, isPadded: isStream)
    }
    nonceCount += 1
    var message = STUNMessage(
      .indication, method: .data, transactionID: STUNTransactionID(high: 9, low: UInt64(nonceCount)))
    message.appendXorPeerAddress(peer)
    message.data = payload
    return written(message)
  }

  /// Processes what the client sent from a port; returns the answer.
  mutating func received(_ datagram: ByteBuffer, fromPort port: UInt16, now: MonotonicInstant) -> ByteBuffer? {
    if TURNChannelData.isChannelData(datagram) {
      guard let (number, payload) = TURNChannelData.parse(datagram), let channel = allocations[port]?.channels[number],
        channel.expiry > now
      else {
        violations.append("ChannelData without channel")
        return nil
      }
      relay(payload, to: channel.peer, port: port, now: now)
      return nil
    }
    guard let message = try? STUNMessage(parsing: datagram) else {
      violations.append("malformed message")
      return nil
    }
    if message.kind == .indication {
      guard message.method == .send, let peer = message.xorPeerAddress, let payload = message.data else {
        violations.append("malformed indication")
        return nil
      }
      relay(payload, to: peer, port: port, now: now)
      return nil
    }
    if let answer = answers[message.transactionID] { return answer }
    requests.append(message)
    let answer = self.answer(message, port: port, now: now)
    answers[message.transactionID] = answer
    return answer
  }

  private mutating func relay(
    _ payload: ByteBuffer, to peer: TransportAddress, port: UInt16, now: MonotonicInstant
  ) {
    guard let allocation = allocations[port], allocation.expiry > now, let permission = allocation.permissions[peer.ip],
      permission > now
    else {
      violations.append("data for \(peer) without permission")
      return
    }
    toPeers.append((peer, payload))
  }

  // MARK: Answers

  private mutating func answer(_ request: STUNMessage, port: UInt16, now: MonotonicInstant) -> ByteBuffer {
    if !checksCredentialsFirst, let error = errors[request.method] { return refusal(request, error, key: nil) }
    guard let username = request.username, let nonce = request.nonce, request.realm == realm else {
      return challenge(request, STUNErrorCode(401, "Unauthorized"), now: now)
    }
    guard let password = users[username] else {
      return challenge(request, STUNErrorCode(401, "Unauthorized"), now: now)
    }
    let usesSHA256 = request.passwordAlgorithm == 2
    let key = TURNCredentials(username: username, password: password)
      .key(realm: realm, algorithm: usesSHA256 ? .sha256 : .md5)
    guard usesSHA256 ? request.isAuthenticSHA256(key: key) : request.isAuthentic(key: key) else {
      return challenge(request, STUNErrorCode(401, "Unauthorized"), now: now)
    }
    if offersSHA256, request.first(.passwordAlgorithms)?.value != Self.algorithms || !usesSHA256 {
      return refusal(request, STUNErrorCode(400, "Bad Request"), key: key)
    }
    guard !callsEachNonceStale, let made = nonces[nonce], now - made < nonceLifetime else {
      return challenge(request, STUNErrorCode(438, "Stale Nonce"), now: now)
    }
    var response = STUNMessage(.success, method: request.method, transactionID: request.transactionID)
    if let error = errors[request.method] ?? error(request, port: port, response: &response, now: now) {
      return refusal(request, error, key: key)
    }
    return seal(response, key: key)
  }

  private static let algorithms = bytes("00020000 00010000")

  private mutating func challenge(
    _ request: STUNMessage, _ error: STUNErrorCode, now: MonotonicInstant
  ) -> ByteBuffer {
    nonceCount += 1
    // The features AAAB say that PASSWORD-ALGORITHMS is present.
    let nonce = ByteBuffer(string: (offersSHA256 ? "obMatJos2AAAB" : "nonce") + "\(nonceCount)")
    nonces[nonce] = now
    var response = STUNMessage(.errorResponse, method: request.method, transactionID: request.transactionID)
    response.errorCode = error
    response.realm = realm
    response.nonce = nonce
    if offersSHA256 { response.set(.passwordAlgorithms, Self.algorithms) }
    return response.encoded(integrityKey: nil)
  }

  private func refusal(_ request: STUNMessage, _ error: STUNErrorCode, key: [UInt8]?) -> ByteBuffer {
    var response = STUNMessage(.errorResponse, method: request.method, transactionID: request.transactionID)
    response.errorCode = error
    if error.code == 300 { response.alternateServer = alternate }
    guard let key, signsErrors else { return response.encoded(integrityKey: nil) }
    return seal(response, key: key)
  }

  private func seal(_ response: STUNMessage, key: [UInt8]) -> ByteBuffer {
    var response = response
    if offersSHA256 { response.appendIntegritySHA256(key: key) } else { response.appendIntegrity(key: key) }
    return response.encoded(integrityKey: nil)
  }

  /// Executes an authentic request; returns the error or fills the response.
  private mutating func error(
    _ request: STUNMessage, port: UInt16, response: inout STUNMessage, now: MonotonicInstant
  ) -> STUNErrorCode? {
    allocations = allocations.filter { $0.value.expiry > now }
    if request.method == .allocate { return allocate(request, port: port, response: &response, now: now) }
    guard var allocation = allocations[port] else { return STUNErrorCode(437, "Allocation Mismatch") }
    switch request.method {
    case .refresh:
      let lifetime = request.lifetime == 0 ? 0 : grantedLifetime
      response.lifetime = lifetime
      allocation.expiry = now + .seconds(Int64(lifetime))
      if lifetime == 0 {
        allocations[port] = nil
        return nil
      }
    case .createPermission:
      let peers = request.xorPeerAddresses
      if peers.isEmpty { return STUNErrorCode(400, "Bad Request") }
      if peers.contains(where: { forbiddenPeers.contains($0.ip) }) { return STUNErrorCode(403, "Forbidden") }
      for peer in peers { allocation.permissions[peer.ip] = now + .seconds(300) }
    case .channelBind:
      guard let number = request.channelNumber, let peer = request.xorPeerAddress else {
        return STUNErrorCode(400, "Bad Request")
      }
      if let bound = allocation.channels[number], bound.peer != peer, bound.expiry > now {
        violations.append("channel \(number) is bound to another peer")
        return STUNErrorCode(400, "Bad Request")
      }
      if allocation.channels.contains(where: { $0.value.peer == peer && $0.key != number && $0.value.expiry > now }) {
        violations.append("\(peer) has another channel")
        return STUNErrorCode(400, "Bad Request")
      }
      if forbiddenPeers.contains(peer.ip) { return STUNErrorCode(403, "Forbidden") }
      allocation.channels[number] = (peer, now + .seconds(600))
      allocation.permissions[peer.ip] = now + .seconds(300)
    default: return STUNErrorCode(400, "Bad Request")
    }
    allocations[port] = allocation
    return nil
  }

  private mutating func allocate(
    _ request: STUNMessage, port: UInt16, response: inout STUNMessage, now: MonotonicInstant
  ) -> STUNErrorCode? {
    guard request.requestedTransport == 17 else { return STUNErrorCode(442, "Unsupported Transport Protocol") }
    if alternate != nil { return STUNErrorCode(300, "Try Alternate") }
    if allocations[port] != nil { return STUNErrorCode(437, "Allocation Mismatch") }
    if allocations.count >= quota { return STUNErrorCode(486, "Allocation Quota Reached") }
    if request.requestedAddressFamily == .v6, !relaysV6 { return STUNErrorCode(440, "Address Family not Supported") }
    nextRelayedPort += 1
    var relayed: [TransportAddress] = []
    if request.requestedAddressFamily != .v6 { relayed.append(address("203.0.113.1", nextRelayedPort)) }
    if request.requestedAddressFamily == .v6 || request.additionalAddressFamily == .v6, relaysV6 {
      relayed.append(address("2001:db8:f::1", nextRelayedPort))
    }
    for address in relayed { response.appendXorRelayedAddress(address) }
    response.xorMappedAddress = address("198.51.100.7", port)
    response.lifetime = grantedLifetime
    allocations[port] = Allocation(relayed: relayed, expiry: now + .seconds(Int64(grantedLifetime)))
    return nil
  }
}

func written(_ message: STUNMessage) -> ByteBuffer {
  var buffer = ByteBuffer()
  message.write(into: &buffer)
  return buffer
}
