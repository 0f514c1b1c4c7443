import Foundation
import Media
import Signalling
import TestSupport
import Testing

@testable import Janus

@Suite("Janus session: hostile servers")
struct JanusHostileServerTests {
  /// Plays damaged recorded messages in random order, with the session's own ids where a server would know them.
  @Test("damaged messages in any order neither trap nor exceed the limits", arguments: 1...60)
  func damaged(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var room = SimulatedRoom {
      $0.publishes = seed % 2 == 0
      $0.maximumParticipants = 5
    }
    try room.join(feeds: [SimulatedRoom.alice])
    let texts = try RecordedMessages.all()
    for _ in 0..<400 {
      guard var text = texts.randomElement(using: &generator) else { return }
      if Bool.random(using: &generator) {
        // To a handle that exists, in response to a request that was sent.
        let handles = [room.session.roomHandle ?? 0] + room.session.handles.keys.sorted()
        text = Self.replace("sender", with: "\(handles.randomElement(using: &generator) ?? 0)", in: text)
        let transaction = room.requests.randomElement(using: &generator)?.transaction ?? "0"
        text = Self.replace("transaction", with: "\"\(transaction)\"", in: text)
      }
      if Bool.random(using: &generator) { text = Damage.apply(to: text, using: &generator) }
      if let message = try? JanusMessage(parsing: text) { room.receive(message) }
      let isAnswered = Bool.random(using: &generator)
      if isAnswered,
        let participant = room.session.subscriptions.keys.min(by: { $0.text < $1.text })
      {
        room.send(.answer("v=0"), to: participant)
        room.send(.offer("v=0"), to: participant)
        room.send(.candidate(TrickledCandidate(candidate: "candidate")), to: participant)
      }
      if Int.random(in: 0..<20, using: &generator) == 0 {
        room.session.connectionLost()
        room.take(room.session.opened(now: room.now))
      }
      room.advance(.milliseconds(Int.random(in: 0...500, using: &generator)))
      #expect(room.session.subscriptions.count <= 5)
      #expect(room.session.handles.count <= 5)
      if room.requests.count > 200 { room.requests.removeFirst(100) }
      room.events = []
    }
  }

  @Test("candidates without end before an offer are not all kept")
  func candidates() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    let handle = room.succeed(try room.next("attach"))
    for number in 0..<10_000 {
      room.receive(.trickle(JanusCandidate(TrickledCandidate(candidate: "\(number)")), handle: handle))
    }
    _ = room.takeEvents()
    room.answer(
      try room.next("message", "join"), .attached([]), JanusDescription(type: "offer", sdp: "o=\r\no=- \r\n"))
    #expect(room.takeEvents().count == 65)
  }

  @Test("a feed's endless name is cut, and a stream with an endless mid is skipped")
  func longTexts() throws {
    let long = String(repeating: "x", count: 50_000)
    let text = """
      {"janus":"event","sender":1,"plugindata":{"data":{"videoroom":"event","publishers":[{"id":5,"display":"\(long)",
      "streams":[{"type":"audio","mid":"\(long)"},{"type":"video","mid":"v"}]},{"id":"\(long)"}]}}}
      """
    guard case .plugin(let event, _, _, _) = try JanusMessage(parsing: text) else { return #expect(Bool(false)) }
    var room = SimulatedRoom()
    try room.join()
    _ = room.takeEvents()
    room.report(event)
    guard case .participantJoined(let participant)? = room.takeEvents().first else { return #expect(Bool(false)) }
    #expect(participant.name?.utf8.count == 256)
    room.succeed(try room.next("attach"))
    #expect(try room.next("message", "join").body?.streams == [.init(feed: .number(5), mid: "v")])
  }

  @Test("a server that assigns one handle twice, or the handle of the room, is not followed")
  func sameHandle() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice, SimulatedRoom.bob])
    let first = try room.next("attach")
    let second = try room.next("attach")
    room.receive(.success(transaction: first.transaction, id: 7))
    room.receive(.success(transaction: second.transaction, id: 7))
    _ = try room.next("message", "join")
    #expect(room.requests == [])
    #expect(room.session.handles == [7: "feed-11"])
    #expect(room.session.ignoredCount == 1)
  }

  private static func replace(_ name: String, with value: String, in text: String) -> String {
    guard let start = text.firstRange(of: "\"\(name)\":")?.upperBound else { return text }
    let end = text[start...].firstIndex { ",}".contains($0) } ?? text.endIndex
    return text.replacingCharacters(in: start..<end, with: value)
  }
}
