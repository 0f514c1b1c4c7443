import Media
import Signalling
import SocketIO
import Testing

@Suite("Offers during a call, such as for an ICE restart")
struct RestartTests {
  private let start = MonotonicInstant.now
  private let candidate = TrickledCandidate(candidate: "candidate:1", mid: "0", mLineIndex: 0)

  private func control(_ calls: [ParticipantID] = []) -> CallControl {
    var configuration = CallControl.Configuration()
    configuration.calls = calls
    return CallControl(user: "1", configuration: configuration)
  }

  /// An established call with the user 2, whom we called or who called us.
  private func established(weCalled: Bool) -> CallControl {
    var calls = control(weCalled ? ["2"] : [])
    _ = calls.loggedIn(now: start)
    if weCalled {
      _ = calls.received(.callResponse(from: "2", isAccepted: true), now: start)
      _ = calls.send(.offer("v=0"), to: "2")
      _ = calls.received(.answer(from: "2", sdp: "v=1"), now: start)
    } else {
      _ = calls.received(.callRequest(from: "2"), now: start)
      _ = calls.received(.offer(from: "2", sdp: "v=0"), now: start)
      _ = calls.send(.answer("v=1"), to: "2")
    }
    return calls
  }

  @Test("caller and callee may offer and answer again, without a new call", arguments: [true, false])
  func bothRoles(weCalled: Bool) {
    var calls = established(weCalled: weCalled)
    #expect(calls.send(.offer("v=2"), to: "2") == [.send(.offer(to: "2", sdp: "v=2"))])
    #expect(
      calls.received(.answer(from: "2", sdp: "v=3"), now: start) == [.deliver(.message(.answer("v=3"), from: "2"))])
    #expect(
      calls.received(.offer(from: "2", sdp: "v=4"), now: start) == [.deliver(.message(.offer("v=4"), from: "2"))])
    #expect(calls.send(.answer("v=5"), to: "2") == [.send(.answer(to: "2", sdp: "v=5"))])
    #expect(calls.deadline == nil)
    #expect(calls.participants == ["2"])
  }

  @Test("when both offer at once, each gets the other's offer, and the peers decide", arguments: [true, false])
  func bothOffer(weCalled: Bool) {
    var calls = established(weCalled: weCalled)
    #expect(calls.send(.offer("v=2"), to: "2") == [.send(.offer(to: "2", sdp: "v=2"))])
    #expect(
      calls.received(.offer(from: "2", sdp: "v=3"), now: start) == [.deliver(.message(.offer("v=3"), from: "2"))])
    #expect(calls.send(.answer("v=4"), to: "2") == [.send(.answer(to: "2", sdp: "v=4"))])
  }

  @Test("a user who does not answer an offer stays in the call", arguments: [true, false])
  func noAnswer(weCalled: Bool) {
    var calls = established(weCalled: weCalled)
    _ = calls.send(.offer("v=2"), to: "2")
    #expect(calls.deadline == nil)
    #expect(calls.poll(now: start + .seconds(3_600)) == [])
    #expect(calls.participants == ["2"])
  }

  @Test("when the call ends before the answer, a late answer is ignored and no further message is sent")
  func endBeforeAnswer() {
    var calls = established(weCalled: true)
    _ = calls.send(.offer("v=2"), to: "2")
    #expect(
      calls.received(.hangUp(from: "2"), now: start) == [.deliver(.participantLeft("2", isRejoinVerified: false))])
    #expect(calls.received(.answer(from: "2", sdp: "v=3"), now: start) == [.ignored(.noCall("2"))])
    #expect(
      calls.send(.offer("v=4"), to: "2") == [.note("A message to 2 is discarded: there is no call with them.")])
  }

  @Test("what the peer sends while the server is lost is sent after the login: the newest offer and its candidates")
  func serverLost() {
    var calls = established(weCalled: false)
    calls.connectionLost()
    #expect(calls.send(.offer("v=2"), to: "2") == [])
    #expect(calls.send(.candidate(candidate), to: "2") == [])
    #expect(calls.send(.offer("v=3"), to: "2") == [])
    #expect(calls.send(.candidate(candidate), to: "2") == [])
    #expect(calls.send(.candidate(TrickledCandidate(candidate: "")), to: "2") == [])
    #expect(
      calls.loggedIn(now: start + .seconds(5)) == [
        .deliver(.joined(id: "1", others: [])), .send(.offer(to: "2", sdp: "v=3")),
        .send(.candidate(to: "2", candidate)),
      ])
    calls.connectionLost()
    #expect(calls.loggedIn(now: start + .seconds(9)) == [.deliver(.joined(id: "1", others: []))])
  }

  @Test("an answer that waits is sent before an offer that follows")
  func waitingAnswer() {
    var calls = established(weCalled: false)
    calls.connectionLost()
    #expect(calls.send(.answer("v=2"), to: "2") == [])
    #expect(calls.send(.offer("v=3"), to: "2") == [])
    #expect(calls.send(.offer("v=4"), to: "2") == [])
    #expect(calls.send(.candidate(candidate), to: "2") == [])
    #expect(
      calls.loggedIn(now: start + .seconds(5)) == [
        .deliver(.joined(id: "1", others: [])), .send(.answer(to: "2", sdp: "v=2")), .send(.offer(to: "2", sdp: "v=4")),
        .send(.candidate(to: "2", candidate)),
      ])
  }

  @Test("what waits for a user is forgotten when the call ends, and is at most 64 messages")
  func waitingEnds() {
    var calls = established(weCalled: false)
    calls.connectionLost()
    for _ in 0..<CallControl.maximumWaitingMessages { #expect(calls.send(.candidate(candidate), to: "2") == []) }
    #expect(
      calls.send(.candidate(candidate), to: "2") == [.note("A message to 2 is discarded: the server is lost.")])
    #expect(calls.hangUp("2", now: start) == [])
    #expect(calls.loggedIn(now: start + .seconds(5)) == [.deliver(.joined(id: "1", others: []))])
  }
}
