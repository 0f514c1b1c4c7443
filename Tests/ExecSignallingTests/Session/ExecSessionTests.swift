import Media
import Signalling
import Testing

@testable import ExecSignalling

/// A session with the program's lines as texts.
struct SessionRun {
  var session: ExecSession
  var now = MonotonicInstant.now
  private(set) var requests: [ExecRequest] = []
  private(set) var events: [SignallingEvent] = []
  private(set) var problems: [String] = []
  private(set) var ending: ExecOutput.Ending?

  init(_ change: (inout ExecSession.Configuration) -> Void = { _ in }) {
    var configuration = ExecSession.Configuration(program: "adapter")
    change(&configuration)
    session = ExecSession(configuration: configuration)
  }

  mutating func take(_ output: ExecOutput) {
    requests += output.requests
    events += output.events
    problems += output.problems.map(\.sentence)
    if let found = output.ending { ending = found }
  }

  mutating func start() { take(session.started(now: now)) }

  mutating func read(_ lines: String...) {
    for line in lines { take(session.received(Array((line + "\n").utf8), now: now)) }
  }

  mutating func join(_ capabilities: String = "{}", _ participants: String = #"[{"id":"anna"}]"#) {
    start()
    read(
      #"{"type":"hello","version":1,"capabilities":\#(capabilities)}"#,
      #"{"type":"joined","id":"me","participants":\#(participants)}"#)
  }

  mutating func advance(_ time: Duration) {
    now += time
    take(session.poll(now: now))
  }

  mutating func send(_ message: SignallingMessage, to id: ParticipantID) { take(session.send(message, to: id)) }

  mutating func takeRequests() -> [ExecRequest] {
    defer { requests = [] }
    return requests
  }

  mutating func takeProblems() -> [String] {
    defer { problems = [] }
    return problems
  }

  mutating func takeEvents() -> [SignallingEvent] {
    defer { events = [] }
    return events
  }
}

@Suite("Session with a program")
struct ExecSessionTests {
  private let anna = SignalledParticipant("anna", offerer: .local)

  @Test("hello, join, joined; then messages in both directions")
  func normal() {
    var run = SessionRun { $0.hello.room = "100" }
    run.start()
    var hello = ExecHello()
    hello.room = "100"
    #expect(run.requests == [.hello(hello)] && run.session.deadline == run.now + .seconds(10))
    run.read(#"{"type":"hello","version":1}"#)
    #expect(run.requests.last == .join(formerID: nil) && !run.session.isJoined)
    run.read(
      #"{"type":"iceServers","iceServers":[{"urls":"stun:a"}]}"#,
      #"{"type":"joined","id":"me","participants":[{"id":"anna"}]}"#)
    #expect(run.events == [.iceServers(["stun:a"]), .joined(id: "me", others: [anna])])
    #expect(run.session.isJoined && run.session.deadline == nil)
    _ = run.takeEvents()
    _ = run.takeRequests()
    run.send(.offer("v=0"), to: "anna")
    run.send(.offer("v=0"), to: "nobody")
    #expect(run.requests == [.message(.offer("v=0"), to: "anna")])
    run.read(#"{"type":"answer","from":"anna","sdp":"v=1"}"#, #"{"type":"answer","from":"nobody","sdp":"v=1"}"#)
    #expect(run.events == [.message(.answer("v=1"), from: "anna")])
    run.read(#"{"type":"participantJoined","id":"bob"}"#, #"{"type":"participantJoined","id":"bob"}"#)
    run.read(#"{"type":"participantLeft","id":"anna"}"#, #"{"type":"participantLeft","id":"anna"}"#)
    #expect(
      run.events.dropFirst() == [
        .participantJoined(SignalledParticipant("bob", offerer: .remote)),
        .participantLeft("anna", isRejoinVerified: false),
      ])
    #expect(run.session.present == ["bob"] && run.ending == nil && run.problems.count == 4)
  }

  @Test("a program that says nothing, or does not join, is lost after its timeout")
  func timeouts() {
    var silent = SessionRun { $0.helloTimeout = .seconds(3) }
    silent.start()
    silent.advance(.milliseconds(2_900))
    #expect(silent.ending == nil)
    silent.advance(.milliseconds(100))
    #expect(silent.ending == .lost(reason: "adapter did not say hello within 3.0 seconds."))
    silent.read(#"{"type":"hello","version":1}"#)
    #expect(silent.requests.count == 1, "nothing is read after the end")

    var slow = SessionRun()
    slow.start()
    slow.advance(.seconds(9))
    slow.read(#"{"type":"hello","version":1}"#)
    slow.advance(.seconds(9))
    #expect(slow.ending == nil)
    slow.advance(.seconds(1))
    #expect(slow.ending == .lost(reason: "adapter did not join within 10.0 seconds."))
  }

  @Test("another version of the protocol is rejected, and so is what the program rejects")
  func rejections() {
    var newer = SessionRun()
    newer.start()
    newer.read(#"{"type":"hello","version":2}"#)
    #expect(newer.ending == .rejected(reason: "adapter speaks version 2 of the protocol instead of 1."))
    var early = SessionRun()
    early.start()
    early.read(#"{"type":"hello","version":1}"#, #"{"type":"rejected","reason":"No such room"}"#)
    #expect(early.ending == .rejected(reason: "adapter rejects the join: No such room."))
    var late = SessionRun()
    late.join()
    late.read(#"{"type":"rejected"}"#)
    #expect(late.ending == .rejected(reason: "adapter rejects what we do."))
    var over = SessionRun()
    over.join()
    over.read(#"{"type":"ended","reason":"The room was closed."}"#, #"{"type":"participantJoined","id":"bob"}"#)
    #expect(over.ending == .ended(reason: "adapter has ended the call: The room was closed."))
    #expect(over.events.count == 1, "nothing follows the end")
  }

  @Test("messages in the wrong order are ignored")
  func order() {
    var run = SessionRun()
    run.read(#"{"type":"hello","version":1}"#)
    run.start()
    run.read(#"{"type":"joined","id":"me"}"#, #"{"type":"offer","from":"anna","sdp":""}"#)
    #expect(run.events.isEmpty && run.problems.count == 2 && run.ending == nil)
    run.read(
      #"{"type":"hello","version":1}"#, #"{"type":"participantJoined","id":"bob"}"#, #"{"type":"hello","version":1}"#)
    #expect(run.events.isEmpty && run.problems.count == 4 && run.ending == nil)
    run.read(#"{"type":"joined","id":"me"}"#)
    #expect(run.events == [.joined(id: "me", others: [])])
  }

  @Test("we, participants who are listed twice and those beyond the limit are left out")
  func limits() {
    var run = SessionRun { $0.hello.maximumParticipants = 2 }
    run.join("{}", #"[{"id":"me"},{"id":"a"},{"id":"a"},{"id":"b"},{"id":"c"}]"#)
    #expect(run.session.present == ["a", "b"])
    run.read(#"{"type":"participantJoined","id":"d"}"#, #"{"type":"participantJoined","id":"me"}"#)
    #expect(run.session.present == ["a", "b"])
    run.read(#"{"type":"participantLeft","id":"a"}"#, #"{"type":"participantJoined","id":"d"}"#)
    #expect(run.session.present == ["b", "d"])
  }

  @Test("an offer during a call is kept back where the system cannot carry one, until the call has ended")
  func offersDuringCalls() {
    var run = SessionRun()
    run.join(#"{"restartsICE":false}"#)
    #expect(!run.session.capabilities.restartsICE)
    _ = run.takeRequests()
    run.send(.offer("1"), to: "anna")
    run.send(.offer("2"), to: "anna")
    run.read(#"{"type":"answer","from":"anna","sdp":"v=1"}"#)
    run.send(.offer("3"), to: "anna")
    #expect(run.takeRequests() == [.message(.offer("1"), to: "anna"), .message(.offer("2"), to: "anna")])
    run.take(run.session.hangUp("anna"))
    run.take(run.session.hangUp("nobody"))
    run.send(.offer("4"), to: "anna")
    run.send(.answer("5"), to: "anna")
    run.send(.offer("6"), to: "anna")
    #expect(
      run.takeRequests() == [.hangUp("anna"), .message(.offer("4"), to: "anna"), .message(.answer("5"), to: "anna")])

    var able = SessionRun()
    able.join()
    able.send(.answer("1"), to: "anna")
    able.send(.offer("2"), to: "anna")
    #expect(able.requests.last == .message(.offer("2"), to: "anna"))
  }

  @Test("candidates are kept back where they cannot follow a description")
  func candidates() {
    let candidate = SignallingMessage.candidate(TrickledCandidate(candidate: "candidate:1"))
    for (capabilities, count) in [("{}", 2), (#"{"tricklesCandidates":false}"#, 1)] {
      var run = SessionRun()
      run.join(capabilities)
      _ = run.takeRequests()
      run.send(.offer("v=0"), to: "anna")
      run.send(candidate, to: "anna")
      #expect(run.requests.count == count)
    }
  }

  @Test("after the next start the program learns our former id, and a program may join again by itself")
  func again() {
    var run = SessionRun()
    run.join()
    run.read(#"{"type":"joined","id":"me-2","participants":[{"id":"bob"}]}"#)
    #expect(run.events.count == 2 && run.session.present == ["bob"])
    run.session.stopped()
    run.send(.offer(""), to: "bob")
    _ = run.takeRequests()
    run.start()
    run.read(#"{"type":"hello","version":1}"#)
    #expect(run.requests.last == .join(formerID: "me-2"))
  }

  @Test("leaving is one message, and nothing is read or sent after it")
  func leaving() {
    var run = SessionRun()
    run.take(run.session.leave())
    #expect(run.requests.isEmpty)
    run.join()
    _ = run.takeRequests()
    run.take(run.session.leave())
    run.take(run.session.leave())
    run.send(.offer(""), to: "anna")
    run.read(#"{"type":"participantJoined","id":"bob"}"#)
    #expect(run.requests == [.leave] && run.events.count == 1 && run.session.deadline == nil)
  }
}
