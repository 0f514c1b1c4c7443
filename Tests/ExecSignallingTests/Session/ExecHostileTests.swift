import Media
import Signalling
import TestSupport
import Testing

@testable import ExecSignalling

@Suite("Session with a hostile program")
struct ExecHostileTests {
  private static let lines = [
    #"{"type":"hello","version":1,"capabilities":{"restartsICE":false}}"#,
    #"{"type":"joined","id":"me","participants":[]}"#,
    #"{"type":"joined","id":"me","participants":[{"id":"a"},{"id":"b","name":"B","direction":"sendOnly"}]}"#,
    #"{"type":"participantJoined","id":"c","weOffer":true}"#, #"{"type":"participantJoined","id":"a"}"#,
    #"{"type":"participantLeft","id":"a"}"#, #"{"type":"offer","from":"a","sdp":"v=0\r\n"}"#,
    #"{"type":"answer","from":"b","sdp":"v=0\r\n"}"#,
    #"{"type":"candidate","from":"c","candidate":"","sdpMLineIndex":0}"#,
    #"{"type":"iceServers","iceServers":[{"urls":["stun:a","turn:b"],"username":"u","credential":"c"}]}"#,
    #"{"type":"rejected","reason":"é\u001b[0m"}"#, #"{"type":"ended"}"#, #"{"type":"later","x":[{},[],null]}"#,
  ]

  @Test("damaged lines in any order and in pieces neither trap nor exceed the limits", arguments: 1...60)
  func damaged(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var run = SessionRun { $0.hello.maximumParticipants = 2 }
    run.start()
    for _ in 0..<400 {
      var bytes = Array((Self.lines.randomElement(using: &generator) ?? "").utf8)
      for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty && Bool.random(using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[place] = Bool.random(using: &generator) ? UInt8.random(in: 0...255, using: &generator) : bytes[0]
      }
      bytes.append(UInt8(ascii: "\n"))
      let cut = Int.random(in: 0...bytes.count, using: &generator)
      run.take(run.session.received(Array(bytes[..<cut]), now: run.now))
      run.take(run.session.received(Array(bytes[cut...]), now: run.now))
      run.send(.offer("v=0"), to: "a")
      run.send(.answer("v=0"), to: "b")
      run.advance(.milliseconds(Int.random(in: 0...200, using: &generator)))
      #expect(run.session.present.count <= 2)
      if run.session.deadline == nil, !run.session.isJoined { run.start() }
      for problem in run.takeProblems() { #expect(problem.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }) }
      _ = run.takeEvents()
      _ = run.takeRequests()
    }
  }

  @Test("a program that writes what is no message is lost after 50 such lines")
  func garbage() {
    var run = SessionRun()
    run.join()
    for _ in 0..<50 { run.read("y") }
    #expect(run.ending == nil)
    run.read("y")
    #expect(run.ending == .lost(reason: "adapter wrote 51 lines that are no messages."))
  }

  @Test("a line of 1 MiB is read, and one of a byte more ends the run")
  func hugeLines() {
    let head = #"{"type":"later","text":""#
    let fill = String(repeating: "x", count: ExecMessage.maximumBytes - head.utf8.count - 2)
    var run = SessionRun()
    run.join()
    run.read(head + fill + "\"}")
    #expect(run.ending == nil && run.problems.last == "A message of adapter is ignored: its type later is not known.")
    run.read(head + fill + "x\"}")
    #expect(run.ending == .lost(reason: "adapter wrote a line of more than 1048576 bytes."))

    var endless = SessionRun()
    endless.start()
    let piece = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<17 { endless.take(endless.session.received(piece, now: endless.now)) }
    #expect(endless.ending != nil)
  }

  @Test("more than 1,000 lines a second, of which 20,000 may come at once, end the run")
  func rate() {
    var run = SessionRun {
      $0.linesPerSecond = 10
      $0.lineBurst = 20
    }
    run.join()
    for _ in 0..<18 { run.read(#"{"type":"later"}"#) }
    run.advance(.seconds(1))
    for _ in 0..<10 { run.read(#"{"type":"later"}"#) }
    #expect(run.ending == nil)
    run.read(#"{"type":"later"}"#)
    #expect(run.ending == .lost(reason: "adapter wrote more than 10 lines a second."))
    let defaults = ExecSession.Configuration(program: "adapter")
    #expect(defaults.linesPerSecond == 1_000 && defaults.lineBurst == 20_000)
  }

  @Test("participants without end are not all kept, and ids with combining marks are compared quickly")
  func floods() {
    var run = SessionRun()
    run.join()
    for number in 0..<5_000 { run.read(#"{"type":"participantJoined","id":"\#(number)"}"#) }
    #expect(run.session.present.count == 256)
    let marks = "e" + String(repeating: "\u{301}", count: 120)
    for _ in 0..<2_000 { run.read(#"{"type":"participantLeft","id":"\#(marks)"}"#) }
    #expect(run.ending == nil)
  }
}
