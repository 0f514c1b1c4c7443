import Media
import Signalling
import SocketIO
import TestSupport
import Testing

@Suite struct CallSignallingTests {
  private let start = MonotonicInstant.now
  private static let open = #"0{"sid":"a","pingInterval":25000,"pingTimeout":5000,"maxPayload":100000}"#
  private static let login = CallSignalling.Action.send(#"42["login","{\"username\":\"1\"}"]"#)

  private func signalling(_ calls: [ParticipantID] = []) -> CallSignalling {
    var configuration = CallControl.Configuration()
    configuration.calls = calls
    return CallSignalling(calls: CallControl(user: "1", configuration: configuration))
  }

  private func connect(_ signalling: inout CallSignalling) {
    signalling.opened(generation: nil, now: start)
    #expect(signalling.received(Self.open, now: start) == [.send("40")])
    #expect(signalling.received(#"40{"sid":"b"}"#, now: start) == [Self.login])
  }

  @Test("after the login the users are called")
  func afterLoginUsers() {
    var signalling = signalling(["2"])
    connect(&signalling)
    #expect(
      signalling.received(#"42["login",{"success":true}]"#, now: start) == [
        .loggedIn(.four), .deliver(.joined(id: "1", others: [])),
        .send(#"42["call_request","{\"ids\":[\"2\"]}"]"#),
      ])
  }

  @Test("ICE servers in the reply to the login are delivered before the join, and what is left out is noted")
  func iceServers() {
    var signalling = signalling()
    connect(&signalling)
    let reply = #"42["login",{"success":true,"iceServers":[{"urls":"turn:b","username":"u","credential":"p"},7]}]"#
    let actions = signalling.received(reply, now: start)
    #expect(actions.first == .loggedIn(.four) && actions.count == 4)
    guard case .note(let note) = actions.dropFirst().first else { return #expect(Bool(false), "\(actions)") }
    #expect(note.contains("but 1 cannot be used"))
    #expect(
      actions.suffix(2) == [
        .deliver(.iceServers([ICEServer(url: "turn:b", username: "u", credential: "p")])),
        .deliver(.joined(id: "1", others: [])),
      ])
  }

  @Test("a refused login ends the client, unless it was accepted before")
  func refusedLoginEnds() {
    var signalling = signalling()
    let reason = "The server refuses the login of the user \"1\"."
    connect(&signalling)
    #expect(
      signalling.received(#"42["login",{"success":false}]"#, now: start) == [.end(.loginRefused(reason))])
    signalling.closed()
    connect(&signalling)
    _ = signalling.received(#"42["login",{"success":true}]"#, now: start)
    for _ in 0..<4 {
      signalling.closed()
      connect(&signalling)
      #expect(signalling.received(#"42["login",{"success":false}]"#, now: start) == [.end(.lost(reason))])
    }
    signalling.closed()
    connect(&signalling)
    #expect(signalling.received(#"42["login",{"success":false}]"#, now: start) == [.end(.loginRefused(reason))])
  }

  @Test("the login is waited for no longer than the join time-out")
  func loginWaitedLonger() {
    var signalling = signalling()
    connect(&signalling)
    #expect(signalling.deadline == start + .seconds(10))
    #expect(
      signalling.poll(now: start + .seconds(10))
        == [.end(.lost("The server did not answer the login within 10.0 seconds."))])
  }

  @Test("an empty answer to our only call means that the user is not known")
  func emptyAnswerOur() {
    var signalling = signalling(["2"])
    connect(&signalling)
    _ = signalling.received(#"42["login",{"success":true}]"#, now: start)
    let actions = signalling.received(#"42["call_response","{}"]"#, now: start)
    #expect(actions.last == .note("The user 2 is not known to the server and is called again after 3.0 seconds."))
  }

  @Test("leaving hangs up and closes the namespace")
  func leavingHangsUp() {
    var signalling = signalling()
    connect(&signalling)
    _ = signalling.received(#"42["login",{"success":true}]"#, now: start)
    _ = signalling.received(#"42["call_request","{\"from\":\"2\"}"]"#, now: start)
    #expect(signalling.leave() == [.send(#"42["disconnectpeer","{\"to\":\"2\"}"]"#), .send("41")])
  }

  @Test(
    "damaged messages do no harm, and the next call works",
    arguments: 0..<20)
  func damagedMessagesDoNo(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let messages = [
      Self.open, #"40{"sid":"b"}"#, "40", "2", "3", #"42["login",{"success":true}]"#,
      #"42["call_request","{\"from\":\"2\"}"]"#, #"42["call_response","{\"from\":\"3\",\"response\":1}"]"#,
      #"42["offer","{\"from\":\"2\",\"type\":\"offer\",\"sdp\":\"v=0\\r\\n\"}"]"#,
      #"42["answer","{\"from\":\"3\",\"type\":\"answer\",\"sdp\":\"v=0\"}"]"#,
      #"421["ice","{\"from\":\"2\",\"candidate\":\"candidate:1\",\"sdpMid\":\"0\",\"sdpMLineIndex\":\"0\"}"]"#,
      #"42["disconnectpeer","{\"from\":\"2\"}"]"#,
    ]
    var signalling = signalling(["3"])
    connect(&signalling)
    _ = signalling.received(#"42["login",{"success":true}]"#, now: start)
    for round in 0..<400 {
      var bytes = Array(messages.randomElement(using: &generator)!.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
        default: bytes.removeSubrange(index...)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let now = start + .milliseconds(round)
      for action in signalling.received(text, now: now) + signalling.poll(now: now) {
        guard case .end = action else { continue }
        signalling.closed()
        connect(&signalling)
        _ = signalling.received(#"42["login",{"success":true}]"#, now: now)
      }
      _ = try? EngineIOPayload.parse(text)
    }
    #expect(signalling.malformedCount > 0)
    #expect(signalling.calls.participants.count <= 256)
    signalling.closed()
    connect(&signalling)
    _ = signalling.received(#"42["login",{"success":true}]"#, now: start)
    let actions = signalling.received(#"42["call_request","{\"from\":\"999\"}"]"#, now: start)
    #expect(
      actions.last == .deliver(.participantJoined(SignalledParticipant("999", name: "999", offerer: .remote))))
  }
}
