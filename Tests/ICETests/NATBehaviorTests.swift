import ICE
import Media
import NIOCore
import TestSupport
import Testing

/// A STUN server with two addresses and two ports (RFC 5780), and a NAT before the sockets of a probe.
private struct NATWorld {
  enum Dependence {
    case independent
    case onAddress
    case onAddressAndPort
  }

  /// Nil for a host with a public address.
  var mapping: Dependence? = .independent
  var filtering = Dependence.independent
  var hasSecondAddress = true
  var secondAddressAnswers = true
  /// Whether CHANGE-REQUEST has an effect.
  var changes = true
  var refusesChange = false
  var isSilent = false

  static let primary = address("198.51.100.1", 3_478)
  static let other = address("198.51.100.2", 3_479)
  static let elsewhere = address("203.0.113.77", 3_478)
  static let locals: [NATBehaviorProbe.Origin: TransportAddress] = [
    .mapping: address("10.0.0.5", 5_000), .filtering: address("10.0.0.5", 5_001),
  ]

  private var mappings: [(key: [TransportAddress], port: UInt16)] = []
  private var sent: [NATBehaviorProbe.Origin: Set<TransportAddress>] = [:]
  private(set) var destinations: [TransportAddress] = []

  init(mapping: Dependence? = .independent, filtering: Dependence = .independent) {
    self.mapping = mapping
    self.filtering = filtering
  }

  private mutating func mapped(_ origin: NATBehaviorProbe.Origin, to destination: TransportAddress) -> TransportAddress
  {
    let local = Self.locals[origin] ?? destination
    guard let mapping else { return local }
    let key =
      switch mapping {
      case .independent: [local]
      case .onAddress: [local, TransportAddress(ip: destination.ip, port: 0)]
      case .onAddressAndPort: [local, destination]
      }
    if let known = mappings.first(where: { $0.key == key }) { return address("192.0.2.1", known.port) }
    mappings.append((key, 40_000 + UInt16(mappings.count)))
    return address("192.0.2.1", mappings[mappings.count - 1].port)
  }

  private func letsIn(_ source: TransportAddress, at origin: NATBehaviorProbe.Origin) -> Bool {
    let known = sent[origin] ?? []
    return switch filtering {
    case .independent: true
    case .onAddress: known.contains { $0.ip == source.ip }
    case .onAddressAndPort: known.contains(source)
    }
  }

  /// Carries a datagram to the server and returns the answer that passes the NAT.
  mutating func carry(_ transmission: NATBehaviorProbe.Transmission) throws -> (ByteBuffer, TransportAddress)? {
    destinations.append(transmission.destination)
    sent[transmission.origin, default: []].insert(transmission.destination)
    let mapped = mapped(transmission.origin, to: transmission.destination)
    let isSecond = transmission.destination.ip == Self.other.ip
    guard !isSilent, !isSecond || secondAddressAnswers else { return nil }
    let request = try STUNMessage(parsing: transmission.datagram)
    var source = transmission.destination
    var response = STUNMessage(.success, transactionID: request.transactionID)
    if let change = request.changeRequest {
      if refusesChange {
        response.kind = .errorResponse
        response.errorCode = .unknownAttribute
      }
      if changes, change.contains(.address) { source.ip = Self.other.ip }
      if changes, change.contains(.port) { source.port = Self.other.port }
    }
    if response.kind == .success {
      response.xorMappedAddress = mapped
      if hasSecondAddress, transmission.destination != Self.elsewhere { response.otherAddress = Self.other }
    }
    guard letsIn(source, at: transmission.origin) else { return nil }
    return (response.encoded(integrityKey: nil), source)
  }
}

@Suite("The behaviour of a NAT")
struct NATBehaviorTests {
  private let start = MonotonicInstant.now

  private func probe(_ others: [TransportAddress] = []) -> NATBehaviorProbe {
    NATBehaviorProbe(
      server: NATWorld.primary, otherServers: others, local: address("10.0.0.5", 5_000), patience: .seconds(4),
      testPatience: .seconds(2), now: start, generator: SeededGenerator(seed: 7))
  }

  /// Runs a probe in a world, in which an answer takes 10 ms.
  private func run(
    _ world: inout NATWorld, others: [TransportAddress] = []
  ) throws -> (behavior: NATBehavior, after: Duration) {
    var probe = probe(others)
    var now = start
    for _ in 0..<100 {
      let due = probe.poll(now: now)
      var answers: [(ByteBuffer, TransportAddress, NATBehaviorProbe.Origin)] = []
      for transmission in due {
        if let (datagram, source) = try world.carry(transmission) {
          answers.append((datagram, source, transmission.origin))
        }
      }
      if !answers.isEmpty { now += .milliseconds(10) }
      for (datagram, source, origin) in answers { probe.received(datagram, from: source, at: origin, now: now) }
      guard let deadline = probe.deadline else { break }
      now = max(now, deadline)
    }
    #expect(probe.isDone)
    return (probe.behavior, now - start)
  }

  @Test(
    "each kind of NAT is recognised",
    arguments: [
      (nil, NATWorld.Dependence.independent, NATMapping.noTranslation, NATFiltering.endpointIndependent),
      (nil, .onAddressAndPort, .noTranslation, .addressAndPortDependent),
      (.independent, .independent, .endpointIndependent, .endpointIndependent),
      (.independent, .onAddress, .endpointIndependent, .addressDependent),
      (.independent, .onAddressAndPort, .endpointIndependent, .addressAndPortDependent),
      (.onAddress, .onAddress, .addressDependent, .addressDependent),
      (.onAddressAndPort, .independent, .addressAndPortDependent, .endpointIndependent),
      (.onAddressAndPort, .onAddressAndPort, .addressAndPortDependent, .addressAndPortDependent),
    ] as [(NATWorld.Dependence?, NATWorld.Dependence, NATMapping, NATFiltering)])
  fileprivate func kinds(
    mapping: NATWorld.Dependence?, filtering: NATWorld.Dependence, expected: NATMapping, passes: NATFiltering
  ) throws {
    var world = NATWorld(mapping: mapping, filtering: filtering)
    let (found, time) = try run(&world)
    #expect(found.mapping == expected)
    #expect(found.filtering == passes)
    #expect(found.failure == nil)
    #expect(found.roundTrip == .milliseconds(10))
    #expect(found.mapped == (mapping == nil ? address("10.0.0.5", 5_000) : address("192.0.2.1", 40_000)))
    #expect(time <= .milliseconds(2_100))
  }

  @Test("a server without a second address is compared with another server")
  func comparison() throws {
    var world = NATWorld(mapping: .independent, filtering: .onAddressAndPort)
    world.hasSecondAddress = false
    let same = try run(&world, others: [NATWorld.elsewhere]).behavior
    #expect(same.mapping == .endpointIndependent)
    #expect(same.mappingMethod == "compared at 198.51.100.1:3478 and 203.0.113.77:3478")
    #expect(same.filtering == nil)
    #expect(same.filteringMethod == "the server has no second address (OTHER-ADDRESS, RFC 5780)")

    world = NATWorld(mapping: .onAddressAndPort)
    world.hasSecondAddress = false
    #expect(try run(&world, others: [NATWorld.elsewhere]).behavior.mapping == .dependent)

    world = NATWorld()
    world.hasSecondAddress = false
    // The same address again is no comparison.
    let alone = try run(&world, others: [address("198.51.100.1", 3_480)]).behavior
    #expect(alone.mapping == nil)
    #expect(alone.mappingMethod?.contains("no other STUN server could be compared") == true)
    #expect(alone.mapped != nil)
  }

  @Test("without an answer of the second address nothing is said about filtering")
  func deadSecondAddress() throws {
    var world = NATWorld(filtering: .onAddressAndPort)
    world.secondAddressAnswers = false
    let found = try run(&world).behavior
    #expect(found.mapping == nil)
    #expect(found.filtering == nil)
    #expect(found.filteringMethod == "the server's second address 198.51.100.2 does not answer")
  }

  @Test("a server that ignores or refuses CHANGE-REQUEST shows no filtering")
  func unchanged() throws {
    var world = NATWorld(filtering: .independent)
    world.changes = false
    var found = try run(&world).behavior
    #expect(found.filtering == nil)
    #expect(found.filteringMethod == "the server ignores CHANGE-REQUEST")
    world = NATWorld()
    (world.changes, world.refusesChange) = (false, true)
    found = try run(&world).behavior
    #expect(found.filtering == nil)
    #expect(found.filteringMethod == "the server refuses CHANGE-REQUEST (error 420)")
  }

  @Test("a silent server gets four requests from each socket in 4 s and is then reported")
  func silence() throws {
    var world = NATWorld()
    world.isSilent = true
    let (found, time) = try run(&world)
    #expect(found.failure?.hasPrefix("The STUN server does not answer over UDP") == true)
    #expect(found.mapped == nil)
    #expect(time == .seconds(4))
    #expect(world.destinations == Array(repeating: NATWorld.primary, count: 8))
  }

  @Test("answers from strangers, to the other socket or with a wrong fingerprint are ignored")
  func forgeries() throws {
    var probe = probe()
    let first = try #require(probe.poll(now: start).first { $0.origin == .mapping })
    var answer = STUNMessage(.success, transactionID: try STUNMessage(parsing: first.datagram).transactionID)
    answer.xorMappedAddress = address("192.0.2.1", 1)
    let datagram = answer.encoded(integrityKey: nil)
    var damaged = datagram
    damaged.setInteger(0 as UInt32, at: damaged.writerIndex - 4)
    probe.received(datagram, from: address("198.51.100.9", 3_478), at: .mapping, now: start)
    probe.received(datagram, from: NATWorld.primary, at: .filtering, now: start)
    probe.received(damaged, from: NATWorld.primary, at: .mapping, now: start)
    probe.received(ByteBuffer(string: "hello"), from: NATWorld.primary, at: .mapping, now: start)
    #expect(probe.behavior.mapped == nil)
    probe.received(datagram, from: NATWorld.primary, at: .mapping, now: start)
    #expect(probe.behavior.mapped == address("192.0.2.1", 1))
  }

  @Test("a second address in a private network is not used by a public server")
  func privateOther() throws {
    var probe = probe()
    let first = try #require(probe.poll(now: start).first { $0.origin == .mapping })
    var answer = STUNMessage(.success, transactionID: try STUNMessage(parsing: first.datagram).transactionID)
    answer.xorMappedAddress = address("192.0.2.1", 1)
    answer.otherAddress = address("10.0.0.1", 22)
    probe.received(answer.encoded(integrityKey: nil), from: NATWorld.primary, at: .mapping, now: start)
    #expect(!probe.poll(now: start + .seconds(1)).contains { $0.destination.ip == address("10.0.0.1").ip })
  }

  @Test("an error of the server is a sentence without control characters")
  func refusal() throws {
    var probe = probe()
    let first = try #require(probe.poll(now: start).first { $0.origin == .mapping })
    var answer = STUNMessage(.errorResponse, transactionID: try STUNMessage(parsing: first.datagram).transactionID)
    answer.errorCode = STUNErrorCode(500, "Oh\u{1B}[2J")
    probe.received(answer.encoded(integrityKey: nil), from: NATWorld.primary, at: .mapping, now: start)
    #expect(probe.behavior.failure == "The STUN server refused the request (error 500, \"Oh?[2J\").")
    #expect(probe.isDone)
  }

  @Test("random datagrams never trap")
  func fuzz() {
    var generator = SeededGenerator(seed: 11)
    var probe = probe()
    for transmission in probe.poll(now: start) {
      for _ in 0..<2_000 {
        var bytes = transmission.datagram
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
          let index = Int.random(in: 0..<bytes.readableBytes, using: &generator)
          // The transaction id stays, so that the rest is read.
          if !(4..<20).contains(index) { bytes.setInteger(UInt8.random(in: 0...255, using: &generator), at: index) }
        }
        bytes.setInteger(0x0101 as UInt16, at: 0)
        probe.received(bytes, from: transmission.destination, at: transmission.origin, now: start)
      }
    }
    #expect(probe.behavior.mapping == nil || probe.behavior.mapped != nil)
  }
}
