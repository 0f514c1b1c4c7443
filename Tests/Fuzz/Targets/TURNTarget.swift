import ICE
import Media
import NIOCore

/// The TURN client: messages, ChannelData and bytes of a stream from a server, in the middle of an allocation.
enum TURNTarget {
  private static let server = TransportAddress(ip: .v4(0xC000_0264), port: 3_478)
  private static let peer = TransportAddress(ip: .v4(0xC000_0207), port: 5_000)
  private static let credentials = TURNCredentials(username: "user", password: "password")

  /// The first byte selects the transport and the state; each further part has a length byte.
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var rest = input[...]
    guard let selector = rest.popFirst() else { return }
    var now = MonotonicInstant.now
    var client = client(isStream: selector & 1 == 1, isAllocated: selector & 2 == 2, now: now)
    while let length = rest.popFirst() {
      let part = ByteBuffer(bytes: rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      if client.transport == .stream {
        client.received(stream: part, now: now)
      } else {
        client.received(part, now: now)
      }
      try check(&client, now: now)
      now += .milliseconds(Int64(selector) * 10)
    }
    // What was received may have changed timers.
    for _ in 0..<20 {
      guard let deadline = client.deadline else { return }
      now = max(now, deadline)
      try check(&client, now: now)
    }
  }

  private static func check(_ client: inout TURNClient, now: MonotonicInstant) throws(InvariantViolation) {
    for action in client.poll(now: now) {
      if case .received(_, let source) = action {
        try require(source.ip == peer.ip, "Data of a peer without permission is delivered: \(source).")
      }
    }
    let again = client.poll(now: now)
    try require(again.isEmpty, "A second poll at the same time has \(again.count) actions.")
    if let deadline = client.deadline { try require(deadline > now, "After a poll the deadline is not in the future.") }
  }

  /// A client that has sent an Allocate request, or one that has an allocation, a permission and a channel from a
  /// server without credentials.
  private static func client(isStream: Bool, isAllocated: Bool, now: MonotonicInstant) -> TURNClient {
    var client = TURNClient(
      server: server, transport: isStream ? .stream : .udp, credentials: credentials, now: now,
      generator: FixedGenerator(seed: 5))
    if isAllocated {
      answer(&client, now: now)
      client.bindChannel(to: peer, now: now)
      answer(&client, now: now)
    }
    _ = client.poll(now: now)
    return client
  }

  /// Grants the requests of the client.
  private static func answer(_ client: inout TURNClient, now: MonotonicInstant) {
    for action in client.poll(now: now) {
      guard case .send(let datagram) = action, let request = try? STUNMessage(parsing: datagram) else { continue }
      var response = STUNMessage(.success, method: request.method, transactionID: request.transactionID)
      if request.method == .allocate {
        response.appendXorRelayedAddress(TransportAddress(ip: .v4(0xCB00_7101), port: 50_000))
        response.xorMappedAddress = TransportAddress(ip: .v4(0xC633_6407), port: 40_000)
        response.lifetime = 600
      }
      let sealed = response.encoded(integrityKey: nil)
      if client.transport == .stream {
        client.received(stream: sealed, now: now)
      } else {
        client.received(sealed, now: now)
      }
    }
  }
}
