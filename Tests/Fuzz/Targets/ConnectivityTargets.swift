import ICE
import Media
import NIOCore

/// Connectivity: STUN, candidates and addresses.
enum ConnectivityTargets {
  private static let left = TransportAddress(ip: .v4(0xC000_0201), port: 5_000)
  private static let right = TransportAddress(ip: .v4(0xC000_0202), port: 5_000)
  private static let ours = ICECredentials(usernameFragment: "leftleft", password: "left-password-of-24-chars")
  private static let theirs = ICECredentials(usernameFragment: "rightrig", password: "rightpassword-of-24-chars")

  /// Passes a datagram to an agent and to a server-reflexive gatherer, unchanged and with a valid password.
  static func stun(_ input: [UInt8]) throws(InvariantViolation) {
    let datagram = ByteBuffer(bytes: input)
    _ = STUNRouting(datagram)
    let now = MonotonicInstant.now
    var gatherer = ServerReflexiveGatherer(base: left, servers: [right], now: now, generator: FixedGenerator(seed: 3))
    _ = gatherer.poll(now: now)
    _ = gatherer.received(datagram, from: right, now: now)
    var (agent, question) = calling(now: now)
    _ = agent.received(datagram, from: right, to: left, now: now)
    _ = agent.poll(now: now, pace: CheckPacer())
    try require(agent.selectedPair == nil, "A datagram without the password selects a pair.")

    guard let message = try? STUNMessage(parsing: datagram) else { return }
    try require(written { message.write(into: &$0) } == datagram, "A STUN message is not written back unchanged.")
    _ = (message.username, message.xorMappedAddress, message.mappedAddress, message.errorCode)
    _ = (message.unknownAttributes, message.priority, message.iceControlled, message.software)
    authentic(message, to: &agent, question: question, now: now)
  }

  /// Passes the message to the agent, authenticated with the other side's password.
  private static func authentic(
    _ message: STUNMessage, to agent: inout ICEAgent, question: STUNTransactionID?, now: MonotonicInstant
  ) {
    var message = message
    message.attributes.removeAll { $0.type == .messageIntegrity || $0.type == .fingerprint }
    let isAnswer = message.kind == .success || message.kind == .errorResponse
    if isAnswer, let question { message.transactionID = question }
    if message.kind == .request { message.username = "leftleft:rightrig" }
    let sealed = message.encoded(integrityKey: Array((isAnswer ? theirs : ours).password.utf8))
    var now = now
    for _ in 0..<2 {
      _ = agent.received(sealed, from: right, to: left, now: now)
      _ = agent.poll(now: now, pace: CheckPacer())
      now += .milliseconds(60)
    }
  }

  /// An agent that has sent a check to the other side, and the transaction ID of the check.
  private static func calling(now: MonotonicInstant) -> (agent: ICEAgent, question: STUNTransactionID?) {
    var agent = ICEAgent(role: .controlled, credentials: ours, tieBreaker: 7, generator: FixedGenerator(seed: 7))
    _ = agent.addLocalHost(left)
    agent.setRemote(
      usernameFragment: theirs.usernameFragment, password: theirs.password, isLite: false, now: now)
    if let candidate = try? ICECandidate(parsing: "candidate:1 1 udp 2130706431 192.0.2.2 5000 typ host") {
      agent.addRemoteCandidate(candidate, now: now)
    }
    var question: STUNTransactionID?
    for action in agent.poll(now: now, pace: CheckPacer()) {
      guard case .send(let datagram, _, _) = action else { continue }
      question = (try? STUNMessage(parsing: datagram))?.transactionID
    }
    return (agent, question)
  }

  /// Splits a stream of datagrams (RFC 4571). The first byte is the size of the chunks in which it arrives the second time.
  static func streamFrames(_ input: [UInt8]) throws(InvariantViolation) {
    guard let size = input.first.map({ Int($0) + 1 }) else { return }
    let stream = ByteBuffer(bytes: input.dropFirst())
    let whole = datagrams(of: stream, inChunksOf: max(stream.readableBytes, 1))
    try require(datagrams(of: stream, inChunksOf: size) == whole, "Chunks of \(size) bytes change the datagrams.")
    let written = written { bytes in for datagram in whole { StreamFraming.write(datagram, into: &bytes) } }
    try require(
      datagrams(of: written, inChunksOf: size) == whole, "The datagrams of a stream are not written as they were read.")
  }

  private static func datagrams(of stream: ByteBuffer, inChunksOf size: Int) -> [ByteBuffer] {
    var stream = stream
    var splitter = StreamFrameSplitter()
    var found: [ByteBuffer] = []
    while var chunk = stream.readSlice(length: min(size, stream.readableBytes)), chunk.readableBytes > 0 {
      while let datagram = splitter.next(from: &chunk) { found.append(datagram) }
    }
    return found
  }

  /// Parses a text as an address, as a server's URL, and as a candidate.
  static func candidate(_ input: [UInt8]) throws(InvariantViolation) {
    let text = String(decoding: input, as: UTF8.self)
    if let ip = IPAddress(text) {
      try require(IPAddress(ip.description) == ip, "The address \(ip) does not round-trip.")
    }
    if let url = try? ICEServerURL(parsing: text) {
      try require((try? ICEServerURL(parsing: url.description)) == url, "The URL \(url) does not round-trip.")
    }
    guard let candidate = try? ICECandidate(parsing: text) else { return }
    try require(
      (try? ICECandidate(parsing: candidate.attributeValue)) == candidate,
      "The candidate \(candidate.attributeValue) does not round-trip.")
    var (agent, _) = calling(now: .now)
    agent.addRemoteCandidate(candidate, now: .now)
    _ = agent.poll(now: .now, pace: CheckPacer())
  }
}
