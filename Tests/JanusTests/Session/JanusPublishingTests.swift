import Janus
import Media
import Signalling
import Testing

@Suite("Janus session: publishing")
struct JanusPublishingTests {
  private func published() throws -> SimulatedRoom {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join()
    _ = room.takeEvents()
    room.send(.offer("v=0 offer"), to: "publisher")
    let publish = try room.next("message", "publish")
    #expect(publish.jsep == JanusDescription(type: "offer", sdp: "v=0 offer"))
    #expect(publish.body?.audiocodec == "opus")
    #expect(publish.body?.videocodec == "vp8")
    room.answer(publish, .other, JanusDescription(type: "answer", sdp: "v=0 answer"))
    #expect(room.takeEvents() == [.message(.answer("v=0 answer"), from: "publisher")])
    return room
  }

  @Test("the codecs of our offer are named to the server, and none for a kind that we do not send")
  func codecs() throws {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join()
    _ = room.takeEvents()
    let offer =
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 108\r\na=rtpmap:108 H264/90000\r\n"
    room.send(.offer(offer), to: "publisher")
    let publish = try room.next("message", "publish")
    #expect(publish.body?.videocodec == "h264")
    #expect(publish.body?.audiocodec == nil)
  }

  @Test("our offer is published and the answer delivered; a second offer changes what is published")
  func call() throws {
    var room = try published()
    let handle = room.roomHandle
    room.send(.candidate(TrickledCandidate(candidate: "candidate:1", mid: "0")), to: "publisher")
    #expect(try room.next("trickle").handleID == handle)
    room.receive(.trickle(JanusCandidate(TrickledCandidate(candidate: "candidate:2", mid: "0")), handle: handle))
    #expect(
      room.takeEvents() == [
        .message(.candidate(TrickledCandidate(candidate: "candidate:2", mid: "0")), from: "publisher")
      ])
    room.send(.offer("v=0 second"), to: "publisher")
    let change = try room.next("message", "configure")
    #expect(change.jsep?.sdp == "v=0 second")
    room.answer(change, .other, JanusDescription(type: "answer", sdp: "v=0 second answer"))
    #expect(room.takeEvents() == [.message(.answer("v=0 second answer"), from: "publisher")])
  }

  @Test("a room that has no place for another publisher rejects what we publish, in the server's words")
  func full() throws {
    var room = SimulatedRoom { $0.publishes = true }
    try room.join()
    _ = room.takeEvents()
    room.send(.offer("v=0"), to: "publisher")
    room.answer(try room.next("message", "publish"), .failed(JanusError(code: 432, reason: "Maximum number")))
    #expect(
      room.takeEvents() == [
        .participantLeft("publisher", isRejoinVerified: false),
        .rejected(
          reason: "The server does not let us publish: The room has as many publishers as it allows (Janus error 432: "
            + "\"Maximum number\")."),
      ])
    #expect(room.ending == nil)
    #expect(room.problems.last?.isWarning == true)
  }

  @Test(
    "a room with other codecs, and an error that Janus does not explain, reject what we publish for their true reason")
  func otherCodec() throws {
    let cases = [
      (
        430, "Video codec unavailable in this room",
        "The room does not accept a codec that we publish (Janus error 430: \"Video codec unavailable in this room\")."
      ),
      (490, "Unknown", "The server reports an error (Janus error 490: \"Unknown\")."),
      (433, "Unauthorized (not allowed)", "The room rejects us (Janus error 433: \"Unauthorized (not allowed)\")."),
    ]
    for (code, words, sentence) in cases {
      var room = SimulatedRoom { $0.publishes = true }
      try room.join()
      _ = room.takeEvents()
      room.send(.offer("v=0"), to: "publisher")
      room.answer(try room.next("message", "publish"), .failed(JanusError(code: code, reason: words)))
      #expect(room.takeEvents().last == .rejected(reason: "The server does not let us publish: \(sentence)"))
    }
  }

  @Test("a connection that the server hangs up is published again under another id, unless it ended at once")
  func hangup() throws {
    var room = try published()
    room.advance(.seconds(6))
    room.receive(.hangup(handle: room.roomHandle, reason: "ICE failed"))
    #expect(
      room.takeEvents() == [
        .participantLeft("publisher", isRejoinVerified: false),
        .participantJoined(SignalledParticipant("publisher-2", offerer: .local, direction: .sendOnly)),
      ])
    room.send(.offer("v=0"), to: "publisher")
    #expect(room.requests == [])
    room.send(.offer("v=0"), to: "publisher-2")
    _ = try room.next("message", "publish")
    room.receive(.hangup(handle: room.roomHandle, reason: "ICE failed"))
    let sentence = "The server ended what we publish at once (ICE failed); it is not published again."
    #expect(
      room.takeEvents() == [.participantLeft("publisher-2", isRejoinVerified: false), .rejected(reason: sentence)])
    #expect(room.problems.last?.isWarning == true)
  }

  @Test("a connection that ends because we have closed it is no fault, and causes no warning")
  func closedByUs() throws {
    var room = try published()
    room.receive(.hangup(handle: room.roomHandle, reason: "DTLS alert"))
    #expect(room.takeEvents() == [.participantLeft("publisher", isRejoinVerified: false)])
    #expect(!room.problems.isEmpty)
    #expect(room.problems.allSatisfy { !$0.isWarning })
  }

  @Test("messages that make no sense for a participant are discarded")
  func discarded() throws {
    var room = SimulatedRoom()
    room.send(.offer("v=0"), to: "publisher")
    try room.join(feeds: [SimulatedRoom.alice])
    try room.offer()
    room.send(.offer("v=0"), to: "publisher")
    room.send(.offer("v=0"), to: "feed-11")
    room.send(.answer("v=0"), to: "feed-99")
    room.send(.candidate(TrickledCandidate(candidate: "x")), to: "nobody")
    #expect(room.requests == [])
    #expect(room.problems.count == 5)
  }
}
