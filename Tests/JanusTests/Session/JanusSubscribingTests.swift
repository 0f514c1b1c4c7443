import Janus
import Media
import Signalling
import Testing

@Suite("Janus session: subscribing to feeds")
struct JanusSubscribingTests {
  private let first = "v=0\r\no=- 7 1 IN IP4 192.0.2.1\r\ns=-\r\n"

  @Test("a feed's offer is delivered, our answer starts it, and the highest layers are chosen")
  func call() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    _ = room.takeEvents()
    let handle = room.succeed(try room.next("attach"))
    let join = try room.next("message", "join")
    #expect(join.handleID == handle)
    #expect(join.body?.ptype == "subscriber")
    #expect(join.body?.privateID == 5)
    #expect(join.body?.streams == [.init(feed: .number(11), mid: "0"), .init(feed: .number(11), mid: "1")])
    room.answer(
      join, .attached([.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")]),
      JanusDescription(type: "offer", sdp: first))
    #expect(room.takeEvents() == [.message(.offer(first), from: "feed-11")])
    room.send(.answer("v=0 answer"), to: "feed-11")
    let start = try room.next("message", "start")
    #expect(start.handleID == handle)
    #expect(start.jsep == JanusDescription(type: "answer", sdp: "v=0 answer"))
    room.answer(start, .other)
    let layers = try room.next("message", "configure")
    #expect(layers.body?.streams == [.init(mid: "1", substream: 2, temporal: 2)])
    #expect(room.events == [])
  }

  @Test("a server of the series 0.x, whose feeds have no streams, is asked for the feed")
  func oldServer() throws {
    var room = SimulatedRoom { ($0.substream, $0.temporal) = (0, 1) }
    try room.join(feeds: [JanusFeedInfo(id: .number(11), display: "alice")])
    room.succeed(try room.next("attach"))
    let join = try room.next("message", "join")
    #expect(join.body?.feed == .number(11))
    #expect(join.body?.streams == nil)
    room.answer(join, .attached([]), JanusDescription(type: "offer", sdp: first))
    room.send(.answer("v=0"), to: "feed-11")
    room.answer(try room.next("message", "start"), .other)
    let layers = try room.next("message", "configure")
    #expect(layers.body?.substream == 0)
    #expect(layers.body?.temporal == 1)
  }

  @Test("candidates go both ways with their mid, and those that come before the offer follow it")
  func candidates() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    let early = TrickledCandidate(candidate: "candidate:1", mid: "0", mLineIndex: 0)
    room.send(.candidate(early), to: "feed-11")
    let handle = room.succeed(try room.next("attach"))
    let join = try room.next("message", "join")
    _ = room.takeEvents()
    room.receive(.trickle(JanusCandidate(early), handle: handle))
    room.receive(.trickle(JanusCandidate(TrickledCandidate(candidate: "")), handle: handle))
    #expect(room.events == [])
    room.answer(join, .attached([]), JanusDescription(type: "offer", sdp: first))
    #expect(
      room.takeEvents() == [
        .message(.offer(first), from: "feed-11"), .message(.candidate(early), from: "feed-11"),
        .message(.candidate(TrickledCandidate(candidate: "")), from: "feed-11"),
      ])
    room.receive(.trickle(JanusCandidate(early), handle: handle))
    #expect(room.takeEvents() == [.message(.candidate(early), from: "feed-11")])
    room.send(.candidate(early), to: "feed-11")
    let trickle = try room.next("trickle")
    #expect(trickle.handleID == handle)
    #expect(trickle.candidate == JanusCandidate(early))
    room.receive(.ack(transaction: trickle.transaction))
  }

  @Test("a second offer of a feed is delivered with the session id of the first, and its answer starts it again")
  func renegotiation() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    let handle = try room.subscribe("feed-11")
    _ = room.takeEvents()
    room.report(
      .updated([.init(type: "audio", mid: "0")]), handle: handle, offer: "v=0\r\no=- 99 2 IN IP4 192.0.2.1\r\ns=-\r\n")
    #expect(
      room.takeEvents() == [.message(.offer("v=0\r\no=- 7 2 IN IP4 192.0.2.1\r\ns=-\r\n"), from: "feed-11")])
    room.send(.answer("v=0 second"), to: "feed-11")
    let start = try room.next("message", "start")
    #expect(start.jsep?.sdp == "v=0 second")
    room.answer(start, .other)
    #expect(room.requests == [])
    room.send(.answer("v=0 third"), to: "feed-11")
    #expect(room.requests == [])
  }

  @Test("feeds come and go while we are in the room; one that comes again has the same id")
  func comesAndGoes() throws {
    var room = SimulatedRoom()
    try room.join()
    _ = room.takeEvents()
    let bob = SignalledParticipant(
      "feed-22", name: "bob", offerer: .remote, direction: .receiveOnly, forwardsMedia: true)
    room.report(.published([SimulatedRoom.bob]))
    #expect(room.takeEvents() == [.participantJoined(bob)])
    let handle = try room.subscribe("feed-22")
    _ = room.takeEvents()
    room.report(.unpublished(.number(22)))
    room.report(.unpublished(.number(22)))
    room.report(.left(.number(22)))
    #expect(room.takeEvents() == [.participantLeft("feed-22", isRejoinVerified: false)])
    #expect(try room.next("detach").handleID == handle)
    room.report(.published([SimulatedRoom.bob]))
    #expect(room.takeEvents() == [.participantJoined(bob)])
    try room.subscribe("feed-22")
  }

  @Test("a feed that leaves while its handle is attached is not subscribed to, and the handle is released")
  func leavesEarly() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    let attach = try room.next("attach")
    room.report(.left(.number(11)))
    let handle = room.succeed(attach)
    #expect(try room.next("detach").handleID == handle)
    #expect(room.requests == [])
  }

  @Test("our own feed, placeholders and feeds without audio and video are not subscribed to")
  func notSubscribed() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [
      JanusFeedInfo(id: .number(1)), JanusFeedInfo(id: .number(2), streams: [.init(type: "data", mid: "0")]),
      JanusFeedInfo(id: .number(3), streams: [.init(type: "audio", mid: "0")], isPlaceholder: true),
      JanusFeedInfo(id: .number(4), streams: [.init(type: "audio", mid: "0", isDisabled: true)]),
    ])
    #expect(room.takeEvents() == [.joined(id: "feed-1", others: [])])
    #expect(room.requests == [])
    // It begins to send.
    room.report(.published([JanusFeedInfo(id: .number(4), streams: [.init(type: "audio", mid: "0")])]))
    #expect(room.takeEvents().count == 1)
  }

  @Test("what the publisher says of a stream is in the offer that the peer receives")
  func descriptions() throws {
    var offers = JanusOffers()
    let sdp = "v=0\r\nm=video 9 x 96\r\na=mid:0\r\nm=video 9 x 96\r\na=mid:1\r\na=sendonly\r\n"
    let plain = offers.received(offer: sdp)
    #expect(plain == [.offer(sdp)])
    let described = offers.received(offer: sdp, descriptions: ["1": "screen\r\na=x", "7": "?"])
    #expect(
      described == [
        .offer(
          "v=0\r\nm=video 9 x 96\r\na=mid:0\r\nm=video 9 x 96\r\na=mid:1\r\na=content:screen\\u{d}\\u{a}a=x\r\na=sendonly\r\n"
        )
      ])
    let text = """
      {"janus":"event","sender":1,"plugindata":{"data":{"videoroom":"attached","streams":[
      {"type":"video","mid":"1","feed_description":"My screen"},
      {"type":"video","mid":"2","description":"x","feed_description":7}]}}}
      """
    guard case .plugin(.attached(let streams), _, _, _) = try JanusMessage(parsing: text) else {
      Issue.record("It is another event.")
      return
    }
    #expect(streams.map(\.description) == ["My screen", "x"])
  }

  @Test("all audio and video of a feed is received, no data; a stream that is added later is added")
  func streams() throws {
    var room = SimulatedRoom()
    let audio = JanusStreamInfo(type: "audio", mid: "a")
    try room.join(feeds: [
      JanusFeedInfo(id: .number(11), streams: [.init(type: "data", mid: "d"), audio, .init(type: "audio", mid: "b")])
    ])
    let handle = room.succeed(try room.next("attach"))
    let join = try room.next("message", "join")
    #expect(join.body?.streams == [.init(feed: .number(11), mid: "a"), .init(feed: .number(11), mid: "b")])
    room.answer(join, .attached([.init(type: "audio", mid: "0")]), JanusDescription(type: "offer", sdp: first))
    room.send(.answer("v=0"), to: "feed-11")
    room.answer(try room.next("message", "start"), .other)
    #expect(room.requests == [])
    _ = room.takeEvents()
    let changed = JanusFeedInfo(
      id: .number(11), display: "Alice", streams: [audio, .init(type: "video", mid: "v")])
    room.report(.published([changed]))
    room.report(.published([changed]))
    #expect(room.events == [])
    let update = try room.next("message", "update")
    #expect(update.handleID == handle)
    #expect(update.body?.subscribe == [.init(feed: .number(11), mid: "v")])
    #expect(room.requests == [])
    room.answer(
      update, .updated([.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")]),
      JanusDescription(type: "offer", sdp: first))
    #expect(room.takeEvents() == [.message(.offer(first), from: "feed-11")])
    room.send(.answer("v=0"), to: "feed-11")
    room.answer(try room.next("message", "start"), .other)
    #expect(try room.next("message", "configure").body?.streams?.map(\.mid) == ["1"])
  }

  @Test("a connection that the server hangs up is made again after 1 s, then 2 s, with the same participant")
  func hangup() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      let handle = try room.subscribe("feed-11")
      _ = room.takeEvents()
      room.receive(.hangup(handle: handle, reason: "ICE failed"))
      #expect(room.events == [])
      #expect(try room.next("detach").handleID == handle)
      room.advance(.milliseconds(seconds * 1_000 - 100))
      for keepalive in room.requests where keepalive.janus == "keepalive" {
        room.receive(.ack(transaction: keepalive.transaction))
      }
      room.requests.removeAll { $0.janus == "keepalive" }
      #expect(room.requests == [])
      room.advance(.milliseconds(100))
      room.requests.removeAll { $0.janus == "keepalive" }
    }
    // A connection that lasted resets the wait.
    let handle = try room.subscribe("feed-11")
    room.advance(.seconds(11))
    room.requests = []
    room.receive(.hangup(handle: handle, reason: "DTLS alert"))
    _ = try room.next("detach")
    room.advance(.seconds(1))
    _ = try room.next("attach")
  }

  @Test("a feed that is gone when we subscribe to it leaves; after another error we try again")
  func errors() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice, SimulatedRoom.bob])
    _ = room.takeEvents()
    room.succeed(try room.next("attach"))
    room.succeed(try room.next("attach"))
    room.answer(try room.next("message", "join"), .failed(JanusError(code: 428, reason: "No such feed (11)")))
    #expect(room.takeEvents() == [.participantLeft("feed-11", isRejoinVerified: false)])
    room.answer(try room.next("message", "join"), .failed(JanusError(code: 499, reason: "?")))
    #expect(room.events == [])
    #expect(room.problems.last?.isWarning == true)
    room.requests = []
    room.advance(.seconds(1))
    try room.subscribe("feed-22")
  }

  @Test("a request for a subscription that is not answered within 10 s is made again")
  func silence() throws {
    var room = SimulatedRoom()
    try room.join(feeds: [SimulatedRoom.alice])
    _ = try room.next("attach")
    room.advance(.seconds(10))
    room.advance(.seconds(1))
    try room.subscribe("feed-11")
    #expect(room.ending == nil)
  }

  @Test("no more than 256 feeds are received, however many the server lists")
  func many() throws {
    var room = SimulatedRoom()
    try room.join(feeds: (2..<2_000).map { JanusFeedInfo(id: .number($0)) })
    guard case .joined(_, let others)? = room.events.first else { return #expect(Bool(false)) }
    #expect(others.count == 256)
    room.report(.published((5_000..<6_000).map { JanusFeedInfo(id: .number($0)) }))
    #expect(room.events.count == 1, "none of them is announced")
    #expect(room.requests.count == 256)
  }
}
