import BotPeer
import Firestore
import Media
import PeerEngineTestSupport
import Signalling
import TestSupport
import Testing

/// A guest vanishes without a word, and within the two seconds of silence that a departure has, somebody else takes the place
/// under the same id.
@Suite("Somebody else under a known id")
struct ForeignConnectionTests {
  enum System: String, CaseIterable, CustomTestStringConvertible {
    case skyRTC = "an offer in SkyRTC"
    case socketIO = "an offer by socket.io"
    case socketIOByUs = "an answer by socket.io to an ICE restart"
    case room = "an offer in a Firestore room"
    case roomByUs = "an answer in a Firestore room"
    case person = "an offer of a Firestore person"
    case personByUs = "an answer of a Firestore person"
    case whep = "an answer of a restarted WHEP server"
    case janus = "an offer of a restarted Janus server"

    var testDescription: String { rawValue }

    var carrier: any SignallingCarrier {
      switch self {
      case .skyRTC: SkyRTCCarrier(guestOffers: true, reportsDeparture: true)
      case .socketIO: SocketIOCarrier(guestOffers: true)
      case .socketIOByUs: SocketIOCarrier(guestOffers: false)
      case .room: FirestoreCarrier(roomRole: .guest)
      case .roomByUs: FirestoreCarrier(roomRole: .host)
      case .person: FirestoreCarrier(personRole: .callee)
      case .personByUs: FirestoreCarrier(personRole: .caller)
      case .whep: WHEPCarrier()
      case .janus: JanusCarrier()
      }
    }
  }

  /// A call in which a first guest's media has arrived, and then a second one takes the place.
  ///
  /// - Returns: the frames of the two.
  private func replaced(_ call: DemultiplexerCall, through carrier: any SignallingCarrier) throws -> [[EncodedFrame]] {
    call.carrier = carrier
    let name = carrier.guest
    if carrier.guestOffers {
      call.receive(carrier.begin())
      try call.enter(name, host: 1)
    } else {
      try call.enter(name, host: 1, offers: false)
      call.receive(carrier.begin())
    }
    try call.connect(name)
    call.play(name, seed: 1, shape: .slim)
    call.run(for: .seconds(1))
    let first = call.stop(name)
    call.run(for: .milliseconds(200))

    if carrier.guestOffers {
      call.receive(carrier.guestReplaced())
      try call.enter(name, host: 2, port: 5001)
    } else {
      try call.enter(name, host: 2, port: 5001, offers: false)
      let events = carrier.guestReplaced()
      call.receive(events)
      // Without an event, the answer to an ICE restart comes from somebody else.
      if events.isEmpty { call.demultiplexer.withEngine(of: ParticipantID(name)) { $0.requestICERestart() } }
    }
    try call.connect(name, within: .seconds(5))
    call.play(name, seed: 2, shape: .slim)
    call.run(for: .seconds(1))
    let second = call.stop(name)
    call.run(for: .milliseconds(500))
    return [first, second]
  }

  @Test("begins another recording, with all that they send and nothing of the former one", arguments: System.allCases)
  func another(system: System) throws {
    let call = DemultiplexerCall(seed: 71)
    let carrier = system.carrier
    let sent = try replaced(call, through: carrier)
    let events = call.events(of: carrier.guest)
    let ends = events.indices.filter { if case .ended = events[$0] { true } else { false } }
    try #require(ends.count == 1)
    guard case .ended(let ending) = events[ends[0]] else { return }
    #expect(ending.isReplaced, "the call in the signalling system goes on")
    let recorded = [events[..<ends[0]], events[ends[0]...]].map(Self.frames)
    for codec in [Codec.opus, .vp8] {
      for (recorded, sent) in zip(recorded, sent) {
        expectSame(recorded.payloads(codec), sent.payloads(codec))
      }
    }
  }

  private static func frames(in events: ArraySlice<PeerEvent>) -> [EncodedFrame] {
    events.compactMap { if case .media(.frame(let frame)) = $0 { frame } else { nil } }
  }

  @Test("continues the recording if the server verifies that it is the same participant", arguments: [true, false])
  func same(guestOffers: Bool) throws {
    let call = DemultiplexerCall(seed: 72)
    let carrier = SkyRTCCarrier(guestOffers: guestOffers, reportsDeparture: false)
    let sent = try replaced(call, through: carrier)
    #expect(call.endings(of: carrier.guest).isEmpty)
    let frames = call.frames(of: carrier.guest)
    for codec in [Codec.opus, .vp8] { expectSame(frames.payloads(codec), sent.flatMap { $0.payloads(codec) }) }
  }
}
