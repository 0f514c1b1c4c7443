import Media
import Signalling
import SocketIO
import Testing

@Suite struct CallControlTests {
  private let start = MonotonicInstant.now
  private static let joined = CallControl.Action.deliver(.joined(id: "1", others: []))

  private func control(_ calls: [ParticipantID] = [], limit: Int = 256) -> CallControl {
    var configuration = CallControl.Configuration()
    configuration.calls = calls
    configuration.maximumCalls = limit
    return CallControl(user: "1", configuration: configuration)
  }

  private func left(_ user: ParticipantID) -> CallControl.Action {
    .deliver(.participantLeft(user, isRejoinVerified: false))
  }

  private func callee(_ user: ParticipantID) -> CallControl.Action {
    .deliver(.participantJoined(SignalledParticipant(user, name: user.text, offerer: .local)))
  }

  private func caller(_ user: ParticipantID) -> CallControl.Action {
    .deliver(.participantJoined(SignalledParticipant(user, name: user.text, offerer: .remote)))
  }

  @Test("users are called after the login, and those who accept get our offer")
  func usersCalledAfter() {
    var calls = control(["2", "3"])
    #expect(
      calls.loggedIn(now: start) == [Self.joined, .send(.callRequest(to: "2")), .send(.callRequest(to: "3"))])
    #expect(calls.received(.callResponse(from: "3", isAccepted: true), now: start) == [callee("3")])
    #expect(calls.send(.offer("v=0"), to: "3") == [.send(.offer(to: "3", sdp: "v=0"))])
    #expect(
      calls.received(.answer(from: "3", sdp: "v=1"), now: start) == [.deliver(.message(.answer("v=1"), from: "3"))])
    #expect(
      calls.send(.offer("v=0"), to: "2") == [.note("A message to 2 is discarded: there is no call with them.")])
  }

  @Test("a caller is accepted and sends the offer")
  func callerAcceptedSends() {
    var calls = control()
    #expect(calls.loggedIn(now: start) == [Self.joined])
    #expect(
      calls.received(.callRequest(from: "2"), now: start)
        == [.send(.callResponse(to: "2", isAccepted: true)), caller("2")])
    #expect(
      calls.received(.offer(from: "2", sdp: "v=0"), now: start) == [.deliver(.message(.offer("v=0"), from: "2"))])
    #expect(calls.send(.answer("v=1"), to: "2") == [.send(.answer(to: "2", sdp: "v=1"))])
    let candidate = TrickledCandidate(candidate: "candidate:1", mid: "0", mLineIndex: 0)
    #expect(calls.send(.candidate(candidate), to: "2") == [.send(.candidate(to: "2", candidate))])
    #expect(calls.send(.candidate(TrickledCandidate(candidate: "")), to: "2") == [])
    #expect(calls.received(.hangUp(from: "2"), now: start) == [left("2")])
  }

  @Test("a caller over the limit is told that we are busy")
  func callerOverLimit() {
    var calls = control(limit: 1)
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callRequest(from: "2"), now: start)
    #expect(
      calls.received(.callRequest(from: "3"), now: start) == [
        .send(.callResponse(to: "3", isAccepted: false)), .note("A call of 3 is refused, because there are 1 calls."),
      ])
    _ = calls.received(.hangUp(from: "2"), now: start)
    #expect(calls.received(.callRequest(from: "3"), now: start).last == caller("3"))
  }

  @Test("with a limit of one, users are called one after another")
  func limitOneUsers() {
    var calls = control(["2", "3", "4"], limit: 1)
    #expect(calls.loggedIn(now: start) == [Self.joined, .send(.callRequest(to: "2"))])
    #expect(calls.received(.callResponse(from: "2", isAccepted: true), now: start) == [callee("2")])
    #expect(calls.received(.hangUp(from: "2"), now: start) == [left("2"), .send(.callRequest(to: "3"))])
    _ = calls.received(.callResponse(from: "3", isAccepted: true), now: start)
    #expect(calls.hangUp("3", now: start) == [.send(.hangUp(to: "3")), .send(.callRequest(to: "4"))])
  }

  @Test("who refuses is called once more, and when all refused, the signalling is closed")
  func refusesCalledMore() {
    var calls = control(["2"])
    _ = calls.loggedIn(now: start)
    let refusal = "The user 2 is busy, refused the call or is not known"
    #expect(
      calls.received(.callResponse(from: "2", isAccepted: false), now: start)
        == [.note("\(refusal) and is called again after 3.0 seconds.")])
    #expect(calls.deadline == start + .seconds(3))
    #expect(calls.poll(now: start + .seconds(2)) == [])
    #expect(calls.poll(now: start + .seconds(3)) == [.send(.callRequest(to: "2"))])
    #expect(
      calls.received(.callResponse(from: "2", isAccepted: false), now: start + .seconds(4))
        == [.note("\(refusal) and is not called again."), .deliver(.closed(reason: "\(refusal)."))])
  }

  @Test("a user who does not answer within 30 s is told, called again, and given up")
  func userAnswerWithin() {
    var calls = control(["2"])
    _ = calls.loggedIn(now: start)
    #expect(calls.deadline == start + .seconds(30))
    #expect(
      calls.poll(now: start + .seconds(30)) == [
        .send(.hangUp(to: "2")),
        .note("The user 2 did not answer within 30.0 seconds and is called again after 3.0 seconds."),
      ])
    // An answer that comes too late is answered, so that the other does not wait for an offer.
    #expect(
      calls.received(.callResponse(from: "2", isAccepted: true), now: start + .seconds(31))
        == [.send(.hangUp(to: "2")), .ignored(.responseWithoutRequest("2"))])
    #expect(calls.poll(now: start + .seconds(33)) == [.send(.callRequest(to: "2"))])
    #expect(
      calls.poll(now: start + .seconds(63)).last
        == .deliver(.closed(reason: "The user 2 did not answer within 30.0 seconds.")))
  }

  @Test("while one user was reached or a caller is there, the signalling stays open")
  func whileOneUser() {
    var calls = control(["2", "3"])
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callResponse(from: "2", isAccepted: true), now: start)
    _ = calls.received(.callResponse(from: "3", isAccepted: false), now: start)
    _ = calls.poll(now: start + .seconds(3))
    let end = calls.received(.callResponse(from: "3", isAccepted: false), now: start + .seconds(4))
    #expect(end == [.note("The user 3 is busy, refused the call or is not known and is not called again.")])
    #expect(calls.received(.hangUp(from: "2"), now: start + .seconds(5)) == [left("2")])
  }

  @Test("a caller who hangs up before the offer has left")
  func callerHangsUp() {
    var calls = control()
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callRequest(from: "2"), now: start)
    #expect(calls.received(.hangUp(from: "2"), now: start) == [left("2")])
    #expect(calls.received(.offer(from: "2", sdp: "v=0"), now: start) == [.ignored(.noCall("2"))])
    #expect(calls.droppedCount == 1)
  }

  @Test("a caller who sends no offer within 30 s is hung up")
  func callerSendsOffer() {
    var calls = control(limit: 1)
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callRequest(from: "2"), now: start)
    #expect(
      calls.poll(now: start + .seconds(30)) == [
        .send(.hangUp(to: "2")), left("2"), .note("2 sent no offer within 30.0 seconds."),
      ])
    _ = calls.received(.callRequest(from: "2"), now: start)
    _ = calls.received(.offer(from: "2", sdp: "v=0"), now: start)
    #expect(calls.deadline == nil)
  }

  @Test("a callee who hangs up before the answer counts as a refusal")
  func calleeHangsUp() {
    var calls = control(["2"])
    _ = calls.loggedIn(now: start)
    #expect(
      calls.received(.hangUp(from: "2"), now: start)
        == [.note("The user 2 hung up before the call began and is called again after 3.0 seconds.")])
  }

  @Test("when two call each other, the one with the smaller name gives way")
  func whenTwoCall() {
    var one = CallControl(user: "1", configuration: configuration(["2"]))
    var two = CallControl(user: "2", configuration: configuration(["1"]))
    _ = one.loggedIn(now: start)
    _ = two.loggedIn(now: start)
    #expect(
      one.received(.callRequest(from: "2"), now: start)
        == [.send(.callResponse(to: "2", isAccepted: true)), caller("2")])
    #expect(two.received(.callRequest(from: "1"), now: start) == [.ignored(.callsCrossed("1"))])
    #expect(two.received(.callResponse(from: "1", isAccepted: true), now: start) == [callee("1")])
  }

  @Test("when two call each other and the other does not give way, its call is accepted")
  func whenTwoCall2() {
    var two = CallControl(user: "2", configuration: configuration(["1"]))
    _ = two.loggedIn(now: start)
    _ = two.received(.callRequest(from: "1"), now: start)
    #expect(
      two.received(.callResponse(from: "1", isAccepted: false), now: start)
        == [.send(.callResponse(to: "1", isAccepted: true)), caller("1")])
  }

  @Test("a user who calls again during a call has left the former one")
  func userCallsAgain() {
    var calls = control()
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callRequest(from: "2"), now: start)
    _ = calls.received(.offer(from: "2", sdp: "v=0"), now: start)
    #expect(
      calls.received(.callRequest(from: "2"), now: start)
        == [left("2"), .send(.callResponse(to: "2", isAccepted: true)), caller("2")])
  }

  @Test("calls outlive the connection to the server")
  func callsOutliveConnection() {
    var calls = control(["2", "3"])
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callResponse(from: "2", isAccepted: true), now: start)
    calls.connectionLost()
    #expect(calls.poll(now: start + .seconds(60)) == [])
    #expect(calls.received(.hangUp(from: "2"), now: start) == [.ignored(.beforeLogin)])
    // The request that was not answered is made again.
    #expect(calls.loggedIn(now: start + .seconds(60)) == [Self.joined, .send(.callRequest(to: "3"))])
    #expect(calls.participants == ["2", "3"])
    #expect(
      calls.received(.offer(from: "2", sdp: "v=0"), now: start) == [.deliver(.message(.offer("v=0"), from: "2"))])
  }

  @Test("leaving hangs up every call")
  func leavingHangsUp() {
    var calls = control(["2", "3"])
    _ = calls.loggedIn(now: start)
    _ = calls.received(.callResponse(from: "3", isAccepted: true), now: start)
    #expect(calls.leave() == [.send(.hangUp(to: "2")), .send(.hangUp(to: "3"))])
    #expect(calls.received(.offer(from: "3", sdp: ""), now: start) == [.ignored(.noCall("3"))])
    #expect(calls.leave() == [])
  }

  @Test("many callers at once are accepted up to the limit, and each leaves alone")
  func manyCallersAccepted() {
    var calls = control(limit: 20)
    _ = calls.loggedIn(now: start)
    for number in 2...41 { _ = calls.received(.callRequest(from: ParticipantID("\(number)")), now: start) }
    #expect(calls.participants.count == 20)
    for number in 2...21 {
      let user = ParticipantID("\(number)")
      #expect(calls.received(.hangUp(from: user), now: start) == [left(user)])
    }
    #expect(calls.participants.isEmpty)
  }

  @Test("twenty calls with the same user one after another leave nothing behind")
  func twentyCallsSame() {
    var calls = control()
    _ = calls.loggedIn(now: start)
    for _ in 0..<20 {
      #expect(calls.received(.callRequest(from: "2"), now: start).last == caller("2"))
      _ = calls.received(.offer(from: "2", sdp: "v=0"), now: start)
      #expect(calls.received(.hangUp(from: "2"), now: start) == [left("2")])
    }
    #expect(calls.participants.isEmpty)
    #expect(calls.droppedCount == 0)
  }

  private func configuration(_ calls: [ParticipantID]) -> CallControl.Configuration {
    var configuration = CallControl.Configuration()
    configuration.calls = calls
    return configuration
  }
}
