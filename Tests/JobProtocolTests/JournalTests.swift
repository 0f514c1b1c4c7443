import Foundation
import JobProtocol
import Testing

@Suite("the journal of a job") struct JournalTests {
  static let events: [JournalEvent] = [
    .started(
      .init(
        version: "0.2.0", job: "j", attempt: 1, attemptID: "a", kind: .record, process: 7,
        paused: PauseState(all: true))),
    .joined(user: "me"),
    .participantJoined(.init(user: "u1", name: "Zoë 😀")),
    .participantLeft(.init(user: "u1")),
    .fileClosed(
      .init(
        name: "u1.0001.webm", kind: .media, user: "u1", userName: "Zoë", stream: 1, segment: 1,
        start: 1_790_000_000_000,
        duration: 60_000, bytes: 12_345, sha256: String(repeating: "0f", count: 32))),
    .fileClosed(.init(name: "100.session.json", kind: .summary, bytes: 10, sha256: "00")),
    .paused(.init(users: ["u1"], effectiveAt: 5, state: PauseState(users: ["u1"]))),
    .resumed(.init(users: nil, effectiveAt: 6, state: .none)),
    .stalled(user: "u1", since: 4),
    .stalled(user: "u1", since: nil),
    .problem(user: nil, sentence: "The disk is slow."),
    .ended(.init(reason: .empty, exitCode: 0, sentence: "Everybody left.", problemsDropped: 3)),
  ]

  @Test("who is paused fits into a line of the journal, with the users of the request")
  func pauseFits() throws {
    for (user, count) in [("\u{1}\"\\", 1_000), (String(repeating: "😀", count: 256), 1_000), ("u", 2_000)] {
      var users = (0..<count).map { "\(user)\($0)" }
      while !PauseState.areWithinLimits(users) { users.removeLast() }
      let state = PauseState(users: users)
      #expect(state.isWithinLimits && users.count >= 20)
      let event = JournalEvent.paused(.init(users: users, effectiveAt: .max, state: state))
      #expect(try JournalEntry(seq: .max, time: .max, event: event).line.count <= JournalEntry.maximumBytes)
      #expect(!PauseState(all: true, users: users, resumedUsers: users + users).isWithinLimits)
    }
  }

  private func journal() throws -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, event) in Self.events.enumerated() {
      bytes += try JournalEntry(seq: Int64(index + 1), time: 1_000 + Int64(index), event: event).line
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  @Test(
    "a reason of a later version is read as the one of the exit code",
    arguments: [
      (Int32(0), JobEndReason.stopped), (69, .serverUnreachable), (73, .diskFull), (70, .crashing), (1, .crashing),
    ])
  func laterReason(code: Int32, reason: JobEndReason) throws {
    let line =
      "{\"seq\":1,\"time\":1,\"type\":\"ended\",\"reason\":\"moved\",\"exitCode\":\(code),\"sentence\":\"It moved.\"}\n"
    var reader = JournalReader()
    let entries = try reader.read(Array(line.utf8))
    #expect(entries.map(\.event) == [.ended(.init(reason: reason, exitCode: code, sentence: "It moved."))])
    // What is no name is no reason.
    var other = JournalReader()
    let broken = line.replacing("moved\",", with: "\",")
    #expect(throws: JournalReader.BrokenLine.self) { try other.read(Array(broken.utf8)) }
  }

  @Test("the path of a control socket is that of the folder where the system has no descriptors, if it fits")
  func controlPath() {
    let short = ControlPath.path(in: "/data/jobs/1", descriptor: 7, hasDescriptors: false)
    #expect(short == "/data/jobs/1/control")
    #expect(ControlPath.path(in: "/data/", descriptor: 7, hasDescriptors: false) == "/data/control")
    #expect(ControlPath.path(in: "/data", descriptor: 7, hasDescriptors: true) == "/proc/self/fd/7/control")
    let long = "/" + String(repeating: "x", count: 100)
    #expect(ControlPath.path(in: long, descriptor: 7, hasDescriptors: false) == "/proc/self/fd/7/control")
  }

  @Test("entries of all types are the same after they were written and read, in pieces of any size")
  func allTypes() throws {
    let bytes = try journal()
    for size in [1, 7, 100, bytes.count] {
      var reader = JournalReader()
      var entries: [JournalEntry] = []
      var start = 0
      while start < bytes.count {
        entries += try reader.read(bytes[start..<min(bytes.count, start + size)])
        start += size
      }
      #expect(entries.map(\.event) == Self.events)
      #expect(entries.map(\.seq) == Array(1...Int64(Self.events.count)))
      #expect(reader.position == Int64(bytes.count))
      #expect(reader.lastSeq == Int64(Self.events.count))
    }
  }

  @Test("an incomplete last line is ignored, and read when the rest of it came")
  func incomplete() throws {
    let bytes = try journal()
    var reader = JournalReader()
    let before = try reader.read(bytes.dropLast(5))
    #expect(before.count == Self.events.count - 1)
    #expect(reader.incompleteBytes > 0)
    let after = try reader.read(bytes.suffix(5))
    #expect(after.count == 1)
    // Another reader goes on from the position.
    var first = JournalReader()
    let some = try first.read(bytes.prefix(700))
    var second = JournalReader(position: first.position, lastSeq: first.lastSeq)
    let rest = try second.read(bytes.dropFirst(Int(first.position)))
    #expect(some.count + rest.count == Self.events.count)
    #expect(second.position == Int64(bytes.count))
  }

  @Test("a broken line is an error that names its place")
  func broken() throws {
    let bytes = try journal()
    let second = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    var reader = JournalReader()
    let before = try reader.read(bytes.prefix(second) + Array("{\"seq\":2}\n".utf8) + bytes.dropFirst(second))
    #expect(before.map(\.event) == [Self.events[0]], "What is before the line is not lost.")
    let error = #expect(throws: JournalReader.BrokenLine.self) { try reader.read([]) }
    #expect(error?.position == Int64(second))
    #expect(error?.lastSeq == 1)
    #expect(error?.cause == .noEntry)
    #expect(reader.position == Int64(second))
  }

  @Test("a hole or a repetition of seq is an error")
  func holes() throws {
    for seq: Int64 in [1, 3, 0, -1, .max] {
      var reader = JournalReader()
      let first = try JournalEntry(seq: 1, time: 1, event: .joined(user: "a")).line + [10]
      _ = try reader.read(first)
      let next = try JournalEntry(seq: seq, time: 1, event: .joined(user: "a")).line + [10]
      let error = #expect(throws: JournalReader.BrokenLine.self) { try reader.read(next) }
      #expect(error?.cause == .outOfOrder(seq))
    }
  }

  @Test("a line of more than 64 KiB is an error before its end has come")
  func tooLong() throws {
    var reader = JournalReader()
    let error = #expect(throws: JournalReader.BrokenLine.self) {
      try reader.read([UInt8](repeating: UInt8(ascii: "x"), count: 70_000))
    }
    #expect(error?.cause == .tooLong)
  }

  @Test("an entry of a later version is read, with its seq")
  func later() throws {
    var reader = JournalReader()
    let lines = """
      {"seq":1,"time":5,"type":"transcribed","words":[1,2]}
      {"seq":2,"time":6,"type":"joined","user":"me","later":true}

      """
    let entries = try reader.read(lines.utf8)
    #expect(entries.map(\.event) == [.other(type: "transcribed"), .joined(user: "me")])
  }
}
