import Janus
import Media
import Signalling
import Testing

@Suite("Janus session: joining and leaving")
struct JanusJoiningTests {
  @Test("the session is created, a handle attached and the room joined with name, PIN, secret and tokens")
  func join() throws {
    var room = SimulatedRoom {
      $0.display = "recorder"
      $0.pin = "p"
      $0.apiSecret = "s"
      $0.token = "t"
      $0.roomToken = "r"
    }
    room.take(room.session.opened(now: room.now))
    let create = try room.next("create")
    #expect(create.sessionID == nil)
    #expect(create.apiSecret == "s")
    #expect(create.token == "t")
    let session = room.succeed(create)
    let attach = try room.next("attach")
    #expect(attach.sessionID == session)
    #expect(attach.plugin == "janus.plugin.videoroom")
    let handle = room.succeed(attach)
    let join = try room.next("message", "join")
    #expect(join.handleID == handle)
    #expect(join.body?.ptype == "publisher")
    #expect(join.body?.room == .number(1234))
    #expect(join.body?.display == "recorder")
    #expect(join.body?.pin == "p")
    #expect(join.body?.token == "r")
    room.answer(join, .joined(id: .number(1), privateID: 5, feeds: [SimulatedRoom.alice]))
    #expect(
      room.takeEvents() == [
        .joined(
          id: "feed-1",
          others: [
            SignalledParticipant(
              "feed-11", name: "alice", offerer: .remote, direction: .receiveOnly, forwardsMedia: true)
          ])
      ])
    #expect(room.ending == nil)
  }

  @Test("who publishes sees the participant \"publisher\", who awaits an offer and sends nothing")
  func publisher() throws {
    var room = SimulatedRoom {
      $0.publishes = true
      $0.receives = false
    }
    try room.join(feeds: [SimulatedRoom.alice])
    #expect(
      room.takeEvents() == [
        .joined(
          id: "feed-1", others: [SignalledParticipant("publisher", offerer: .local, direction: .sendOnly)])
      ])
    #expect(room.requests == [])
  }

  @Test(
    "an error in response to the join ends the attempt: for good, or until the next one",
    arguments: [
      (JanusError(code: 426, reason: "No such room (1234)"), true), (JanusError(code: 433, reason: "wrong pin"), true),
      (JanusError(code: 429, reason: "Missing mandatory element (pin)"), true),
      (JanusError(code: 430, reason: "Invalid element type (room should be a string)"), true),
      (JanusError(code: 499, reason: "?"), false), (JanusError(code: -5, reason: ""), false),
    ])
  func refused(error: JanusError, isPermanent: Bool) throws {
    var room = SimulatedRoom()
    room.take(room.session.opened(now: room.now))
    room.succeed(try room.next("create"))
    room.succeed(try room.next("attach"))
    room.answer(try room.next("message", "join"), .failed(error))
    if isPermanent {
      let ending = try #require(error.permanent)
      #expect(room.ending == .permanent(ending))
    } else {
      #expect(room.ending == .lost(reason: error.description))
    }
    #expect(room.events == [])
  }

  @Test("a wrong API secret ends the attempt as unauthorized")
  func secret() throws {
    var room = SimulatedRoom()
    room.take(room.session.opened(now: room.now))
    let create = try room.next("create")
    room.receive(.error(JanusError(code: 403, reason: "Unauthorized request"), transaction: create.transaction))
    #expect(
      room.ending
        == .permanent(
          .unauthorized(
            "The server rejects the API secret or the token (Janus error 403: \"Unauthorized request\").")))
  }

  @Test("a server that does not let us join within 10 s is given up")
  func silence() {
    var room = SimulatedRoom()
    room.take(room.session.opened(now: room.now))
    room.advance(.milliseconds(9_900))
    #expect(room.ending == nil)
    room.advance(.milliseconds(100))
    #expect(room.ending == .lost(reason: "The server did not let us join within 10.0 seconds."))
  }

  @Test("a keep-alive is sent every 25 s, and an unanswered one ends the connection")
  func keepalive() throws {
    var room = SimulatedRoom()
    try room.join()
    for _ in 0..<3 {
      room.advance(.milliseconds(24_900))
      #expect(room.requests == [])
      room.advance(.milliseconds(100))
      room.receive(.ack(transaction: try room.next("keepalive").transaction))
    }
    room.advance(.seconds(25))
    _ = try room.next("keepalive")
    room.advance(.seconds(10))
    #expect(room.ending == .lost(reason: "The server did not respond within 10.0 seconds."))
  }

  @Test("a session that the server has forgotten is replaced by a new one, and its participants are reported as gone")
  func forgotten() throws {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join(feeds: [SimulatedRoom.alice, SimulatedRoom.bob])
    room.session.connectionLost()
    _ = room.takeEvents()
    room.requests = []
    room.take(room.session.opened(now: room.now))
    let claim = try room.next("claim")
    #expect(claim.sessionID != nil)
    room.receive(.error(JanusError(code: 458, reason: "No such session"), transaction: claim.transaction))
    room.succeed(try room.next("create"))
    room.succeed(try room.next("attach"))
    // Bob has kept his id.
    room.answer(
      try room.next("message", "join"), .joined(id: .number(2), privateID: 6, feeds: [SimulatedRoom.bob]))
    let events = room.takeEvents()
    #expect(
      Set(events.dropLast()) == [
        .participantLeft("feed-11", isRejoinVerified: false), .participantLeft("publisher", isRejoinVerified: false),
      ])
    #expect(
      events.last
        == .joined(
          id: "feed-2",
          others: [
            SignalledParticipant("publisher-2", offerer: .local, direction: .sendOnly),
            SignalledParticipant(
              "feed-22", name: "bob", offerer: .remote, direction: .receiveOnly, forwardsMedia: true),
          ]))
    try room.subscribe("feed-22")
  }

  @Test("a session that the server has kept is continued: calls go on, and what changed meanwhile is reported")
  func claimed() throws {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join(feeds: [SimulatedRoom.alice])
    let handle = try room.subscribe("feed-11")
    room.report(.published([SimulatedRoom.bob]))
    let gone = try room.subscribe("feed-22")
    room.send(.offer("v=0"), to: "publisher")
    room.answer(
      try room.next("message", "publish"), .other, JanusDescription(type: "answer", sdp: "v=0 answer"))
    _ = room.takeEvents()
    room.session.connectionLost()
    room.advance(.seconds(1))
    room.take(room.session.opened(now: room.now))
    room.succeed(try room.next("claim"))
    let list = try room.next("message", "listparticipants")
    room.receive(
      .plugin(
        .participants([
          JanusFeedInfo(id: .number(11), display: "alice"), JanusFeedInfo(id: .number(33), display: "carol"),
          JanusFeedInfo(id: .number(44), isPlaceholder: true), JanusFeedInfo(id: .number(1)),
        ]), handle: list.handleID ?? 0, transaction: list.transaction, description: nil))
    #expect(
      room.takeEvents() == [
        .participantLeft("feed-22", isRejoinVerified: false),
        .joined(
          id: "feed-1",
          others: [
            SignalledParticipant("publisher", offerer: .local, direction: .sendOnly),
            SignalledParticipant(
              "feed-11", name: "alice", offerer: .remote, direction: .receiveOnly, forwardsMedia: true),
            SignalledParticipant(
              "feed-33", name: "carol", offerer: .remote, direction: .receiveOnly, forwardsMedia: true),
          ]),
      ])
    #expect(try room.next("detach").handleID == gone)
    try room.offer()
    let kept = room.participant(at: handle)
    #expect(kept == "feed-11")
    room.advance(.seconds(5))
    #expect(room.requests == [])
  }

  @Test("what was under way when a connection was lost is begun again in the claimed session")
  func interrupted() throws {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join(feeds: [SimulatedRoom.alice])
    let handle = try room.offer()
    room.send(.answer("v=0"), to: "feed-11")
    room.send(.offer("v=0"), to: "publisher")
    room.requests = []
    room.session.connectionLost()
    room.take(room.session.opened(now: room.now))
    room.succeed(try room.next("claim"))
    _ = room.takeEvents()
    let list = try room.next("message", "listparticipants")
    room.answer(list, .participants([JanusFeedInfo(id: .number(11), display: "alice")]))
    let events = room.takeEvents()
    #expect(events.first == .participantLeft("publisher", isRejoinVerified: false))
    guard case .joined(_, let others)? = events.last else { return #expect(Bool(false)) }
    #expect(others.map(\.id) == ["publisher-2", "feed-11"])
    #expect(try room.next("detach").handleID == handle)
    room.advance(.zero)
    try room.subscribe("feed-11")
  }

  @Test("leaving sends leave and destroy, and is complete when the server has confirmed it")
  func leave() throws {
    var room = SimulatedRoom()
    try room.join()
    room.take(room.session.leave(now: room.now))
    _ = try room.next("message", "leave")
    let destroy = try room.next("destroy")
    #expect(room.ending == nil)
    room.receive(.success(transaction: destroy.transaction, id: nil))
    #expect(room.ending == .left)
  }

  @Test("leaving before a session exists is complete at once")
  func leaveEarly() {
    var room = SimulatedRoom()
    room.take(room.session.opened(now: room.now))
    #expect(room.session.leave(now: room.now).ending == .left)
  }

  @Test("a room that is closed and a removal by a moderator end the signalling for good")
  func removal() throws {
    for (event, sentence) in [
      (VideoRoomEvent.destroyed, "The room was closed."),
      (.removed(reason: "kicked"), "The server removed us from the room: kicked."),
      (.left(.number(1)), "The server removed us from the room."),
    ] {
      var room = SimulatedRoom()
      try room.join()
      room.report(event)
      #expect(room.ending == .closed(reason: sentence))
    }
  }

  @Test(
    "a request that is answered with \"no such session\" ends the connection, and the next one begins a new session")
  func noSession() throws {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join()
    room.send(.candidate(TrickledCandidate(candidate: "candidate:1", mid: "0")), to: "publisher")
    let trickle = try room.next("trickle")
    let error = JanusError(code: 458, reason: "No such session 7")
    room.receive(.error(error, transaction: trickle.transaction))
    #expect(
      room.ending == .lost(reason: "The session no longer exists (Janus error 458: \"No such session 7\")."))
    room.session.connectionLost()
    room.take(room.session.opened(now: room.now))
    _ = try room.next("create")
  }

  @Test("a server that does not continue a session in time is joined again on the next connection")
  func claimUnanswered() throws {
    var room = SimulatedRoom()
    try room.join()
    room.session.connectionLost()
    room.take(room.session.opened(now: room.now))
    _ = try room.next("claim")
    room.advance(.seconds(10))
    guard case .lost? = room.ending else { return #expect(Bool(false)) }
    room.session.connectionLost()
    room.take(room.session.opened(now: room.now))
    _ = try room.next("create")
  }

  @Test("an expired session and a released handle end the connection, and the next one begins a new session")
  func expired() throws {
    for message: @Sendable (SimulatedRoom) -> JanusMessage in [
      { .timeout(session: $0.sessionID) }, { .detached(handle: $0.roomHandle) },
    ] {
      var room = SimulatedRoom()
      try room.join()
      room.receive(message(room))
      room.advance(JanusSession.releaseDelay)
      guard case .lost? = room.ending else { return #expect(Bool(false)) }
      room.session.connectionLost()
      room.take(room.session.opened(now: room.now))
      _ = try room.next("create")
    }
  }

  @Test("a server that releases our place before it says that the session has expired is believed")
  func releasedBeforeTimeout() throws {
    var room = SimulatedRoom()
    try room.join()
    room.receive(.detached(handle: room.roomHandle))
    #expect(room.ending == nil)
    room.receive(.timeout(session: room.sessionID))
    #expect(room.ending == .lost(reason: "The server has ended the session, because it heard no keep-alive."))
  }

  @Test(
    "a server that releases our place and says nothing more, or closes the connection, is not asked for the old session"
  )
  func released() throws {
    var room = SimulatedRoom()
    try room.join()
    room.receive(.detached(handle: room.roomHandle))
    var closed = room
    closed.session.connectionLost()
    closed.take(closed.session.opened(now: closed.now))
    _ = try closed.next("create")
    room.advance(JanusSession.releaseDelay)
    #expect(room.ending == .lost(reason: "The server has released our place in the room."))
  }
}
