import Foundation
import JobProtocol
import Testing

@Suite("messages of the control socket") struct ControlTests {
  @Test("requests are the same after they were written and read")
  func requests() throws {
    let commands: [ControlRequest.Command] = [
      .hello, .status, .subscribe, .pause(users: nil), .pause(users: ["a", "b"]), .resume(users: ["😀"]),
      .resume(users: nil), .snapshot(user: "a", stream: nil), .snapshot(user: "a", stream: 2), .stop(reason: nil),
      .stop(reason: .drained), .unknown("later"),
    ]
    for (index, command) in commands.enumerated() {
      let request = ControlRequest(id: Int64(index), command)
      #expect(try ControlRequest(parsing: request.line) == request)
    }
  }

  @Test("answers are the same after they were written and read")
  func answers() throws {
    var status = JobStatus(time: 5, state: .joined, paused: PauseState(users: ["u"]))
    var user = UserStatus(user: "u", name: "Zoë", state: "connected")
    user.audioLevel = -23.5
    user.lastFrameAt = 4
    user.counts.packets = .max
    user.isPaused = true
    status.users = [user]
    status.userCount = 3
    let results: [ControlAnswer.Result] = [
      .hello(.init(version: "0.2.0", job: "j", attempt: 1, attemptID: "a", process: 7)), .status(status),
      .paused(.init(users: nil, effectiveAt: 5, state: .none)),
      .snapshot(.init(time: 1, width: 320, height: 180, part: 0, parts: 2, png: Data([1, 2, 3]))), .stopping,
      .error(ControlError(.tooSoon, "One snapshot in 2 s.")), .other,
    ]
    for result in results {
      let answer = ControlAnswer(id: 3, result)
      #expect(try ControlAnswer(parsing: answer.line) == answer)
    }
  }

  @Test("a process cannot state so many users that their sum overflows")
  func manyUsers() throws {
    var status = JobStatus(time: 5, state: .joined, paused: .none)
    (status.userCount, status.stalledUsers) = (.max, .min)
    let read = try ControlAnswer(parsing: ControlAnswer(id: 3, .status(status)).line)
    guard case .status(let status) = read.result else {
      Issue.record("The answer is no status.")
      return
    }
    #expect(status.userCount == 1_000_000 && status.stalledUsers == 0)
  }

  @Test("a part of a snapshot of the maximum size fits into a line")
  func snapshots() throws {
    let png = Data(repeating: 0xFF, count: ControlAnswer.SnapshotPart.maximumBytes)
    let answer = ControlAnswer(
      id: .max,
      .snapshot(.init(time: .max, width: 320, height: 320, part: 999, parts: 1_000, png: png)))
    #expect(try answer.line.count < ControlLine.maximumBytes)
  }

  @Test(
    "what is no request is refused",
    arguments: [
      "", "null", "[]", "{}", #"{"id":1}"#, #"{"request":"hello"}"#, #"{"id":-1,"request":"hello"}"#,
      #"{"id":"1","request":"hello"}"#, #"{"id":1,"request":""}"#, #"{"id":1,"request":"h\u0000"}"#,
      #"{"id":1,"request":"pause","users":"a"}"#, #"{"id":1,"request":"snapshot"}"#,
      #"{"id":1,"request":"stop","reason":"fire"}"#, #"{"id":1,"request":"hello"} x"#,
    ])
  func invalid(line: String) {
    #expect(throws: ControlLineError.self) { try ControlRequest(parsing: Data(line.utf8)) }
  }

  @Test("lines are divided in pieces of any size, and one of more than 64 KiB is refused")
  func lines() throws {
    var reader = ControlLineReader()
    var lines: [Data] = []
    for byte in "{}\n\n[1]\nrest".utf8 { lines += try reader.read([byte]) }
    #expect(lines == [Data("{}".utf8), Data("[1]".utf8)])
    lines = try reader.read([UInt8](repeating: 0x20, count: ControlLine.maximumBytes - 4) + [10])
    #expect(lines.count == 1)
    #expect(throws: ControlLineError.tooLong) {
      try reader.read([UInt8](repeating: 0x20, count: ControlLine.maximumBytes + 1))
    }
  }
}
