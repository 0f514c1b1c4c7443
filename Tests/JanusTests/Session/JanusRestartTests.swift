import Janus
import Media
import Signalling
import Testing

@Suite("Janus session: ICE restarts")
struct JanusRestartTests {
  private let first = "v=0\r\no=- 7 1 IN IP4 192.0.2.1\r\ns=-\r\na=fingerprint:sha-256 AA\r\n"
  private let restarting = "v=0\r\no=- 7 2 IN IP4 192.0.2.1\r\ns=-\r\na=fingerprint:sha-256 AA\r\n"

  /// A room in which our offer was answered.
  private func published() throws -> SimulatedRoom {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join()
    room.send(.offer(first), to: "publisher")
    room.answer(
      try room.next("message", "publish"), .other, JanusDescription(type: "answer", sdp: "v=0 answer"))
    _ = room.takeEvents()
    return room
  }

  /// A room with a feed that is received.
  private func subscribed() throws -> (SimulatedRoom, handle: UInt64) {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    let handle = try room.subscribe("feed-11")
    _ = room.takeEvents()
    return (room, handle)
  }

  /// Loses the connection and continues the session on the next one.
  private func claim(_ room: inout SimulatedRoom, feeds: [JanusFeedInfo] = []) throws {
    room.requests = []
    room.ending = nil
    room.session.connectionLost()
    room.take(room.session.opened(now: room.now))
    room.succeed(try room.next("claim"))
    room.answer(try room.next("message", "listparticipants"), .participants(feeds))
  }

  // MARK: What we publish

  @Test("a restart of what we publish that the server refuses or does not answer changes nothing")
  func notRepublished() throws {
    var room = try published()
    room.send(.offer(restarting), to: "publisher")
    room.answer(try room.next("message", "configure"), .failed(JanusError(code: 465, reason: "Error processing SDP")))
    #expect(room.problems.last?.isWarning == true)
    room.send(.offer(restarting), to: "publisher")
    room.receive(.ack(transaction: try room.next("message", "configure").transaction))
    room.advance(.seconds(11))
    #expect(room.problems.last?.isWarning == false)
    #expect(room.events == [])
    #expect(room.ending == nil)
    let kept = room.participant(at: room.roomHandle)
    #expect(kept == "publisher")
  }

  @Test(
    "an offer of what we publish that was not answered is sent again in the claimed session, and not after an answer")
  func republishedAgain() throws {
    var room = try published()
    room.send(.offer(restarting), to: "publisher")
    try claim(&room)
    let again = try room.next("message", "configure")
    #expect(again.jsep?.sdp == restarting)
    #expect(
      room.takeEvents() == [
        .joined(id: "feed-1", others: [SignalledParticipant("publisher", offerer: .local, direction: .sendOnly)])
      ])
    room.answer(again, .other, JanusDescription(type: "answer", sdp: "v=0 second"))
    #expect(room.takeEvents() == [.message(.answer("v=0 second"), from: "publisher")])
    try claim(&room)
    #expect(room.requests == [])
  }

  @Test("an offer that comes while there is no server is sent when the session is claimed")
  func offeredMeanwhile() throws {
    var room = try published()
    room.session.connectionLost()
    room.send(.offer(restarting), to: "publisher")
    #expect(room.requests == [])
    try claim(&room)
    #expect(try room.next("message", "configure").jsep?.sdp == restarting)
  }

  @Test(
    "an offer with another certificate ends what we publish first, and another publication follows",
    arguments: [true, false], [true, false])
  func newConnection(isMeanwhile: Bool, hasEnded: Bool) throws {
    var room = try published()
    room.advance(.seconds(6))
    if isMeanwhile { room.session.connectionLost() }
    room.send(.offer("v=0\r\na=fingerprint:sha-256 BB\r\n"), to: "publisher")
    if isMeanwhile { try claim(&room) }
    _ = room.takeEvents()
    let unpublish = try room.next("message", "unpublish")
    #expect(unpublish.jsep == nil)
    if hasEnded {
      room.answer(unpublish, .failed(JanusError(code: 435, reason: "Can't unpublish, not published")))
    } else {
      room.answer(unpublish, .other)
      room.receive(.hangup(handle: room.roomHandle, reason: "Close PC"))
    }
    #expect(
      room.takeEvents() == [
        .participantLeft("publisher", isRejoinVerified: false),
        .participantJoined(SignalledParticipant("publisher-2", offerer: .local, direction: .sendOnly)),
      ])
    room.send(.offer(first), to: "publisher-2")
    _ = try room.next("message", "publish")
  }

  // MARK: Feeds

  @Test("an offer of ours for a feed asks the server for one with new credentials, whose answer starts the feed again")
  func feedRestarted() throws {
    var (room, handle) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    let request = try room.next("message", "configure")
    #expect(request.handleID == handle)
    #expect(request.jsep == nil)
    #expect(request.text.contains(#""body":{"request":"configure","restart":true}"#))
    room.answer(request, .other, JanusDescription(type: "offer", sdp: "v=0\r\no=- 99 2 IN IP4 192.0.2.1\r\n"))
    #expect(room.takeEvents() == [.message(.offer("v=0\r\no=- 7 2 IN IP4 192.0.2.1\r\n"), from: "feed-11")])
    room.send(.answer("v=0 second"), to: "feed-11")
    let start = try room.next("message", "start")
    #expect(start.jsep?.sdp == "v=0 second")
    room.answer(start, .other)
    #expect(try room.next("message", "configure").body?.streams != nil, "the layers are chosen")
    #expect(room.requests == [])
  }

  @Test("a restart of a feed that the server refuses or does not answer changes nothing")
  func feedNotRestarted() throws {
    var (room, handle) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    room.answer(try room.next("message", "configure"), .failed(JanusError(code: 499, reason: "?")))
    #expect(room.problems.last?.isWarning == true)
    room.send(.offer("v=0 ours"), to: "feed-11")
    room.receive(.ack(transaction: try room.next("message", "configure").transaction))
    room.advance(.seconds(11))
    #expect(room.requests == [])
    #expect(room.events == [])
    #expect(room.ending == nil)
    let kept = room.participant(at: handle)
    #expect(kept == "feed-11")
  }

  @Test("a feed whose handle the server does not know any more is subscribed to again")
  func noHandle() throws {
    var (room, _) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    room.answer(try room.next("message", "configure"), .failed(JanusError(code: 459, reason: "No such handle")))
    _ = try room.next("detach")
    room.advance(.seconds(1))
    try room.subscribe("feed-11")
  }

  @Test("an answer to a restart that the server does not confirm leaves the feed as it is")
  func startUnconfirmed() throws {
    var (room, handle) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    room.answer(try room.next("message", "configure"), .other, JanusDescription(type: "offer", sdp: restarting))
    room.send(.answer("v=0"), to: "feed-11")
    _ = try room.next("message", "start")
    room.advance(.seconds(11))
    #expect(room.requests == [])
    let kept = room.participant(at: handle)
    #expect(kept == "feed-11")
    // The next one works.
    room.send(.offer("v=0 ours"), to: "feed-11")
    _ = try room.next("message", "configure")
  }

  @Test("a restart waits while another offer of the server is answered")
  func restartWaits() throws {
    var (room, handle) = try subscribed()
    room.report(.updated([.init(type: "audio", mid: "0")]), handle: handle, offer: restarting)
    room.send(.offer("v=0 ours"), to: "feed-11")
    #expect(room.requests == [])
    room.send(.answer("v=0"), to: "feed-11")
    room.answer(try room.next("message", "start"), .other)
    #expect(try room.next("message", "configure").body?.restart == true)
  }

  @Test("a feed that is not established is not restarted")
  func tooEarly() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    try room.offer()
    room.send(.offer("v=0 ours"), to: "feed-11")
    #expect(room.requests == [])
  }

  @Test(
    "in a claimed session a restart is requested again that was asked for on the last connection or meanwhile, once",
    arguments: [true, false])
  func feedRestartedAgain(isAskedBefore: Bool) throws {
    var (room, handle) = try subscribed()
    if isAskedBefore { room.send(.offer("v=0 ours"), to: "feed-11") }
    room.session.connectionLost()
    if !isAskedBefore { room.send(.offer("v=0 ours"), to: "feed-11") }
    try claim(&room, feeds: [SimulatedRoom.alice])
    let request = try room.next("message", "configure")
    #expect(request.handleID == handle)
    #expect(request.body?.restart == true)
    room.answer(request, .other, JanusDescription(type: "offer", sdp: restarting))
    room.send(.answer("v=0"), to: "feed-11")
    room.answer(try room.next("message", "start"), .other)
    try claim(&room, feeds: [SimulatedRoom.alice])
    #expect(room.requests == [])
  }

  /// Janus waits for the answer then, and would postpone every further offer.
  @Test("a feed whose answer may not have arrived is subscribed to again in the claimed session")
  func answerLost() throws {
    var (room, handle) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    room.answer(try room.next("message", "configure"), .other, JanusDescription(type: "offer", sdp: restarting))
    room.send(.answer("v=0"), to: "feed-11")
    try claim(&room, feeds: [SimulatedRoom.alice])
    #expect(try room.next("detach").handleID == handle)
    room.advance(.zero)
    try room.subscribe("feed-11")
  }

  @Test("a feed for which the server does not offer after a repeated restart is subscribed to again")
  func postponed() throws {
    var (room, handle) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    try claim(&room, feeds: [SimulatedRoom.alice])
    room.receive(.ack(transaction: try room.next("message", "configure").transaction))
    room.advance(.milliseconds(4_900))
    #expect(room.requests == [])
    room.advance(.milliseconds(100))
    #expect(try room.next("detach").handleID == handle)
    room.advance(.zero)
    try room.subscribe("feed-11")
  }

  @Test("a restart that crosses an offer of the server is not requested again: the server offers it after the answer")
  func crossing() throws {
    var (room, handle) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    room.receive(.ack(transaction: try room.next("message", "configure").transaction))
    for _ in 0..<2 {
      room.report(.updated([.init(type: "audio", mid: "0")]), handle: handle, offer: restarting)
      room.send(.answer("v=0"), to: "feed-11")
      room.answer(try room.next("message", "start"), .other)
      #expect(room.requests == [])
    }
    room.advance(.seconds(11))
    #expect(room.requests == [])
  }

  @Test(
    "a feed whose connection we have ended is subscribed to again, at once or in the claimed session",
    arguments: [true, false])
  func ended(isMeanwhile: Bool) throws {
    var (room, handle) = try subscribed()
    if isMeanwhile { room.session.connectionLost() }
    room.take(room.session.hangUp("feed-11", now: room.now))
    if isMeanwhile { try claim(&room, feeds: [SimulatedRoom.alice]) }
    #expect(try room.next("detach").handleID == handle)
    room.advance(.seconds(1))
    try room.subscribe("feed-11")
  }

  @Test("responses about a former publication do not end or answer the present one")
  func lateResponses() throws {
    var room = try published()
    room.advance(.seconds(6))
    room.send(.offer(restarting), to: "publisher")
    let configure = try room.next("message", "configure")
    room.send(.offer("v=0\r\na=fingerprint:sha-256 BB\r\n"), to: "publisher")
    let unpublish = try room.next("message", "unpublish")
    room.receive(.hangup(handle: room.roomHandle, reason: "ICE failed"))
    #expect(
      room.takeEvents() == [
        .participantLeft("publisher", isRejoinVerified: false),
        .participantJoined(SignalledParticipant("publisher-2", offerer: .local, direction: .sendOnly)),
      ])
    room.answer(unpublish, .failed(JanusError(code: 435, reason: "Can't unpublish, not published")))
    room.answer(configure, .other, JanusDescription(type: "answer", sdp: "v=0 late"))
    #expect(room.events == [])
    let present = room.participant(at: room.roomHandle)
    #expect(present == "publisher-2")
    // One that was answered would go on.
    try claim(&room)
    #expect(
      room.takeEvents() == [
        .participantLeft("publisher-2", isRejoinVerified: false),
        .joined(id: "feed-1", others: [SignalledParticipant("publisher-3", offerer: .local, direction: .sendOnly)]),
      ])
  }

  // MARK: The connection to the server

  @Test(
    "a restart that is not acknowledged within 2 s, or at once if the address is gone, means a new connection, once")
  func unacknowledged() throws {
    var (room, _) = try subscribed()
    room.send(.offer("v=0 ours"), to: "feed-11")
    #expect(room.session.awaitsAcknowledgement)
    var moved = room
    moved.take(moved.session.poll(now: moved.now, isConnectionUsable: false))
    #expect(
      moved.ending
        == .unresponsive(reason: "This machine does not have the address of the connection any more."))
    room.advance(.milliseconds(1_900))
    #expect(room.ending == nil)
    room.advance(.milliseconds(100))
    #expect(room.ending == .unresponsive(reason: "The server did not acknowledge a request within 2.0 seconds."))
    try claim(&room, feeds: [SimulatedRoom.alice])
    _ = try room.next("message", "configure")
    #expect(!room.session.awaitsAcknowledgement)
    room.advance(.seconds(9))
    #expect(room.ending == nil)
  }

  @Test("an acknowledged restart needs no new connection, nor does anything else that is not acknowledged")
  func acknowledged() throws {
    var room = try published()
    room.send(.offer(restarting), to: "publisher")
    room.receive(.ack(transaction: try room.next("message", "configure").transaction))
    room.send(.candidate(TrickledCandidate(candidate: "candidate:1", mid: "0")), to: "publisher")
    #expect(!room.session.awaitsAcknowledgement)
    room.advance(.seconds(5))
    #expect(room.ending == nil)
  }
}
