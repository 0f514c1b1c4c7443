import Firestore
import Media
import Signalling
import TestSupport
import Testing

@Suite("Documents that nobody should write")
struct HostileDocumentsTests {
  @Test(
    "whatever is in the documents, participants join and leave in turn and the state stays bounded", arguments: 0..<50)
  func random(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let layout: any SignallingLayout =
      switch seed % 4 {
      case 0: RoomSignalling(room: "1", role: .host)
      case 1: RoomSignalling(room: "1", role: .guest)
      case 2: PersonSignalling(me: "tom", peer: "jerry", role: .caller)
      default: PersonSignalling(me: "tom", peer: "jerry", role: .callee)
      }
    walk(layout, &generator)
  }

  private func walk(_ layout: some SignallingLayout, _ generator: inout SeededGenerator) {
    var database = MemoryDatabase()
    var now = MonotonicInstant.now
    var bot = SimulatedBot(layout, database: &database, now: now)
    for _ in 0..<400 {
      now += .milliseconds(Int.random(in: 1...3_000, using: &generator))
      for _ in 0..<Int.random(in: 0...3, using: &generator) { writeAnything(&database, layout, &generator) }
      bot.poll(&database, now: now)
      if Int.random(in: 0..<10, using: &generator) == 0 {
        bot.send(
          message(&generator), to: ["guest", "host", "jerry", "x"].randomElement(using: &generator) ?? "x", now: now)
      }
    }
    var isPresent = false
    for event in bot.events {
      switch event {
      case .joined(_, let others): isPresent = !others.isEmpty
      case .participantJoined:
        #expect(!isPresent)
        isPresent = true
      case .participantLeft:
        #expect(isPresent)
        isPresent = false
      case .message: #expect(isPresent)
      case .iceServers, .connectionLost, .rejected, .closed: Issue.record("\(event)")
      }
    }
    #expect(database.list(layout.outgoing.candidates).count <= IncomingConnection.maximumCandidates + 50)
  }

  private func writeAnything(
    _ database: inout MemoryDatabase, _ layout: some SignallingLayout, _ generator: inout SeededGenerator
  ) {
    let side = Bool.random(using: &generator) ? layout.incoming : layout.outgoing
    let fragment = "f\(Int.random(in: 0..<5, using: &generator))"
    let id = FirestoreID(stringLiteral: "c\(Int.random(in: 0..<40, using: &generator))")
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: database.commit([.delete(side.description)])
    case 1: database.commit(side.clearing(existing: database.list(side.candidates).map(\.path)))
    case 2: database.commit([.set(side.description, [:])])
    case 3: database.commit([.set(side.description, ["sdp": .integer(1), "type": .other])])
    case 4, 5:
      let kind: StoredDescription.Kind = Bool.random(using: &generator) ? .offer : .answer
      let sdp = Bool.random(using: &generator) ? TestDescription.sdp(fragment, candidates: []) : "a=ice-ufrag:\n\n\u{0}"
      database.commit([.set(side.description, StoredDescription.fields(kind, sdp: sdp))])
    case 6:
      database.commit([
        .set(side.candidates.document(id), ["sdp": .string("candidate:"), "sdpMLineIndex": .integer(.min)])
      ])
    case 7: database.commit([.set(side.candidates.document(id), ["sdp": .null])])
    default:
      let candidate = TestDescription.candidates(fragment)[0]
      database.commit([.set(side.candidates.document(id), StoredCandidate.fields(candidate))])
    }
  }

  private func message(_ generator: inout SeededGenerator) -> SignallingMessage {
    switch Int.random(in: 0..<5, using: &generator) {
    case 0:
      .offer(TestDescription.sdp("x\(UInt8.random(in: 0...255, using: &generator))", candidates: TestDescription.lines))
    case 1: .answer("")
    case 2: .candidate(TrickledCandidate(candidate: ""))
    case 3: .candidate(TrickledCandidate(candidate: "candidate: ufrag", mLineIndex: .max))
    default: .candidate(TestDescription.candidates("f1")[1])
    }
  }

  @Test("of 10,000 candidates only 256 are delivered")
  func manyCandidates() {
    let description = StoredDescription(
      .offer, sdp: TestDescription.sdp("a", candidates: []), updateTime: FirestoreTimestamp(seconds: 1))
    var connection = IncomingConnection(description, now: .now)
    var stored: [FirestoreID: StoredCandidate] = [:]
    for index in 0..<10_000 {
      let text = "candidate:\(index) 1 udp 1 10.0.0.1 5000 typ host ufrag a"
      stored[FirestoreID(stringLiteral: "\(index)")] = StoredCandidate(
        TrickledCandidate(candidate: text), updateTime: description.updateTime)
    }
    #expect(connection.newCandidates(in: stored).count == IncomingConnection.maximumCandidates)
    #expect(connection.newCandidates(in: stored).isEmpty)
  }
}
