import JobProtocol
import ObjectStore
import Testing

@Suite("The description of a recording")
struct RecordingDocumentTests {
  /// 2026-03-01T09:30:00Z
  private static let t: Int64 = 1_772_357_400_000

  private func manifest(
    _ user: String = "u", start: Int64, audio: (Int64, Int64)? = nil, video: (Int64, Int64)? = nil, lost: Bool = false,
    pauses: [(Int64, Int64)] = [], stream: Int64 = 1, files: [String] = []
  ) -> RecordedManifest {
    let tracks = [("audio", audio), ("video", video)].compactMap { kind, part in
      part.map { part in
        RecordedManifest.Track(
          kind: kind, start: part.0, duration: part.1,
          pauses: pauses.map { RecordedManifest.Pause(start: $0.0, duration: $0.1) })
      }
    }
    return RecordedManifest(
      user: user, stream: stream, start: Self.t + start, hasEndReason: !lost,
      files: files.map {
        RecordedManifest.File(name: $0, kind: "webm", start: 0, duration: 1_000, complete: true, segment: nil)
      }, tracks: tracks)
  }

  private func attempt(
    _ number: Int64, from start: Int64, to end: Int64, lost: Bool = false, _ manifests: [RecordedManifest]
  ) -> RecordedAttempt {
    var attempt = RecordedAttempt(
      number: number, id: "id\(number)", version: "1", start: Self.t + start, end: Self.t + end, how: nil,
      endedInOrder: !lost)
    attempt.manifests = manifests
    return attempt
  }

  private func describe(_ attempts: [RecordedAttempt]) -> RecordingDocument {
    var document = RecordingDocument(job: "j", kind: "record", project: "p", room: "100", labels: ["a": "b"])
    document.describe(attempts)
    return document
  }

  private func shown(_ gaps: [RecordingDocument.Gap]?) -> [String] {
    (gaps ?? []).map { gap in
      "\(gap.reason) \(gap.kind ?? "-") \(gap.stream) \(gap.start.dropFirst(14).dropLast()) \(gap.duration)"
    }
  }

  @Test("A lost process leaves a gap of each track, from its last frame to the next one")
  func processLost() {
    let document = describe([
      attempt(
        1, from: 0, to: 12_000, lost: true,
        [manifest(start: 1_000, audio: (0, 9_000), video: (500, 8_000), lost: true)]),
      attempt(2, from: 13_000, to: 30_000, [manifest(start: 14_000, audio: (0, 5_000), video: (250, 5_000))]),
    ])
    #expect(
      shown(document.users.first?.gaps) == [
        "processLost video 1 30:09.500 4.75", "processLost audio 1 30:10.000 4.0",
      ])
    #expect(document.complete)
  }

  @Test("A gap of a node that was lost says so, and the attempts name their nodes and clocks")
  func nodeLost() throws {
    var first = attempt(
      1, from: 0, to: 12_000, lost: true, [manifest(start: 1_000, audio: (0, 9_000), lost: true)])
    first.isNodeLost = true
    (first.node, first.clockOffset, first.clockError) = ("a", -12, 3)
    first.participants = [RecordedAttempt.Participant(id: "v", joined: Self.t + 2_000)]
    var second = attempt(
      2, from: 40_000, to: 60_000, lost: true, [manifest(start: 41_000, audio: (0, 9_000), lost: true)])
    second.node = "b"
    let third = attempt(3, from: 61_000, to: 70_000, [manifest(start: 62_000, audio: (0, 5_000))])
    // A node leaves it in the database for the one that describes the recording.
    let read = try #require(RecordedAttempt(json: try first.json))
    #expect(read == first)
    #expect(RecordedAttempt(json: "{}") == nil)
    let document = describe([read, second, third])
    #expect(
      shown(document.users.first?.gaps) == [
        "nodeLost audio 1 30:10.000 31.0", "processLost audio 1 30:50.000 12.0",
      ])
    #expect(shown(document.users.last?.gaps) == ["nodeLost - 1 30:02.000 38.0"])
    #expect(document.attempts.map(\.node) == ["a", "b", nil])
    #expect(document.attempts[0].clockOffset == -0.012 && document.attempts[0].clockError == 0.003)
    let parsed = RecordingDocument(parsing: try document.json)
    #expect(parsed == document)
  }

  @Test("A user who left before the process was lost has no gap")
  func noGap() {
    let document = describe([
      attempt(1, from: 0, to: 12_000, lost: true, [manifest(start: 1_000, audio: (0, 5_000))]),
      attempt(2, from: 13_000, to: 30_000, [manifest(start: 14_000, audio: (0, 5_000))]),
    ])
    #expect(document.users.isEmpty)
  }

  @Test("A user who does not come back has a gap up to the next attempt, or to the end of the last one")
  func notBack() {
    let lost = manifest(start: 1_000, audio: (0, 9_000), lost: true)
    let first = attempt(1, from: 0, to: 12_000, lost: true, [lost])
    #expect(shown(describe([first]).users.first?.gaps) == ["processLost audio 1 30:10.000 2.0"])
    let second = attempt(2, from: 13_000, to: 30_000, [])
    #expect(shown(describe([first, second]).users.first?.gaps) == ["processLost audio 1 30:10.000 3.0"])
  }

  @Test("A user of whom a lost process had recorded nothing has a gap from their arrival on")
  func nothingRecorded() {
    var first = attempt(1, from: 0, to: 12_000, lost: true, [])
    first.participants = [
      RecordedAttempt.Participant(id: "u", name: "Ann", joined: Self.t + 2_000),
      RecordedAttempt.Participant(id: "v", joined: Self.t + 2_000, left: Self.t + 3_000),
    ]
    let second = attempt(2, from: 13_000, to: 30_000, [manifest(start: 14_000, video: (0, 5_000))])
    let users = describe([first, second]).users
    #expect(users.map(\.id) == ["u"])
    #expect(users.first?.name == "Ann")
    #expect(shown(users.first?.gaps) == ["processLost - 1 30:02.000 12.0"])
  }

  @Test("Thousands who come and go, and times that no clock has, are described", .timeLimit(.minutes(1)))
  func crowd() {
    var lost = attempt(1, from: 0, to: 12_000, lost: true, [])
    lost.participants = (0..<30_000).map { RecordedAttempt.Participant(id: "u\($0)", joined: Self.t + 1_000) }
    for time in [Int64.min, -1, .max] {
      lost.participants.append(RecordedAttempt.Participant(id: "x\(time)", joined: time))
      lost.participants.append(RecordedAttempt.Participant(id: "y\(time)", joined: .min, left: time))
      lost.pauses.append(
        RecordedAttempt.PauseStep(time: time, state: PauseState(all: false, users: ["x\(time)", "u0"])))
    }
    let next = attempt(2, from: 13_000, to: 30_000, [manifest("x-1", start: 14_000, audio: (0, 10))])
    let document = describe([lost, next])
    #expect(document.users.count > 30_000)
    #expect(shown(document.users.first { $0.id == "u1" }?.gaps) == ["processLost - 1 30:01.000 12.0"])
  }

  @Test("Pauses are exact within a recording, and counted before and after it")
  func pauses() {
    var only = attempt(
      1, from: 0, to: 60_000, [manifest(start: 10_000, audio: (0, 20_000), pauses: [(4_000, 2_500)])])
    only.participants = [RecordedAttempt.Participant(id: "u", joined: Self.t + 1_000, left: Self.t + 50_000)]
    only.pauses = [
      RecordedAttempt.PauseStep(time: Self.t, state: PauseState(all: true)),
      RecordedAttempt.PauseStep(time: Self.t + 9_500, state: PauseState()),
      RecordedAttempt.PauseStep(time: Self.t + 14_000, state: PauseState(users: ["u"])),
      RecordedAttempt.PauseStep(time: Self.t + 16_500, state: PauseState()),
      RecordedAttempt.PauseStep(time: Self.t + 31_000, state: PauseState(all: true, resumedUsers: ["v"])),
    ]
    #expect(
      shown(describe([only]).users.first?.gaps) == [
        "paused audio 1 30:01.000 9.0", "paused audio 1 30:14.000 2.5", "paused audio 1 30:31.000 19.0",
      ])
  }

  @Test("A process that is lost within a pause ends no pause")
  func lostWhilePaused() {
    var first = attempt(1, from: 0, to: 12_000, lost: true, [manifest(start: 1_000, audio: (0, 8_990), lost: true)])
    first.participants = [RecordedAttempt.Participant(id: "u", joined: Self.t + 500)]
    first.pauses = [RecordedAttempt.PauseStep(time: Self.t + 10_000, state: PauseState(all: true))]
    var second = attempt(2, from: 13_000, to: 30_000, [manifest(start: 19_030, audio: (0, 5_000))])
    second.participants = [RecordedAttempt.Participant(id: "u", joined: Self.t + 15_000)]
    second.pauses = [
      RecordedAttempt.PauseStep(time: Self.t + 14_000, state: PauseState(all: true)),
      RecordedAttempt.PauseStep(time: Self.t + 19_000, state: PauseState()),
    ]
    // From the end of the last frame to the next one, as within a file.
    #expect(shown(describe([first, second]).users.first?.gaps) == ["paused audio 1 30:09.990 9.04"])
  }

  @Test("What was lost before a pause, or long after it, is no pause")
  func lostBeforePause() {
    var first = attempt(1, from: 0, to: 12_000, lost: true, [manifest(start: 1_000, audio: (0, 8_000), lost: true)])
    first.pauses = [RecordedAttempt.PauseStep(time: Self.t + 10_000, state: PauseState(all: true))]
    var second = attempt(2, from: 13_000, to: 30_000, [manifest(start: 21_000, audio: (0, 5_000))])
    second.pauses = [RecordedAttempt.PauseStep(time: Self.t + 19_000, state: PauseState())]
    #expect(
      shown(describe([first, second]).users.first?.gaps) == [
        "processLost audio 1 30:09.000 1.0", "paused audio 1 30:10.000 9.0", "processLost audio 1 30:19.000 2.0",
      ])
  }

  @Test("A user who was paused all the time is listed with that gap")
  func neverRecorded() {
    var only = attempt(1, from: 0, to: 60_000, [])
    only.participants = [RecordedAttempt.Participant(id: "u", joined: Self.t + 1_000)]
    only.pauses = [RecordedAttempt.PauseStep(time: Self.t, state: PauseState(all: true))]
    #expect(shown(describe([only]).users.first?.gaps) == ["paused - 1 30:01.000 59.0"])
  }

  @Test("What two attempts have of one track is an overlap")
  func overlaps() {
    var first = attempt(1, from: 0, to: 12_000, [manifest(start: 0, audio: (0, 10_000), files: ["a"])])
    first.objects = [.init(name: "a", object: "k/a", kind: "webm", bytes: 3, sha256: "00", attempt: 1)]
    let second = attempt(2, from: 9_000, to: 30_000, [manifest(start: 9_500, audio: (0, 5_000))])
    let user = describe([first, second]).users.first
    #expect(user?.overlaps.map(\.duration) == [0.5])
    #expect(user?.overlaps.map(\.attempts) == [[1, 2]])
    #expect(user?.files.map(\.object) == ["k/a"])
    #expect(user?.files.map(\.start) == ["2026-03-01T09:30:00.000Z"])
  }

  @Test("What is missing makes it incomplete, and the text is read back")
  func json() throws {
    var part = attempt(1, from: 0, to: 12_000, [manifest("\u{202E}<b>", start: 0, audio: (0, 1), files: ["a"])])
    part.objects = [.init(name: "a", object: "k/a", kind: "webm", bytes: 3, sha256: "00", attempt: 1)]
    part.missing = [.init(name: "b", reason: "The file is gone.")]
    let document = describe([part])
    #expect(!document.complete)
    let text = try document.json
    #expect(RecordingDocument(parsing: text) == document)
    #expect(!String(decoding: text, as: UTF8.self).unicodeScalars.contains("\u{202E}"))
    #expect(try document.json == text)
    let later = String(decoding: text, as: UTF8.self).replacing("\"version\" : 1,", with: "\"version\" : 2,")
    #expect(RecordingDocument(parsing: Array(later.utf8)) == nil)
  }
}

@Suite("The manifest of a recorder, as a store reads it")
struct RecordedManifestTests {
  private static let text = """
    {"version": 2, "finished": true, "user": "u", "name": "Ann", "stream": {"number": 2}, "room": "x",
     "start": "2026-03-01T09:30:00.125Z", "duration": 3.5, "endReason": "left",
     "files": [{"name": "a.webm", "kind": "webm", "start": 0.25, "duration": 1.5, "bytes": 9, "complete": true,
       "segment": 3}],
     "tracks": [{"kind": "audio", "start": 0, "duration": 2.001, "gaps": [
       {"reason": "paused", "start": 1, "duration": 0.5, "packets": 0, "frames": 0},
       {"reason": "lost", "start": 1.5, "duration": 0.1, "packets": 1, "frames": 0}]},
       {"kind": "smell", "start": 0, "duration": 1}]}
    """

  @Test("Its fields are read")
  func read() throws {
    let manifest = try #require(RecordedManifest(parsing: Array(Self.text.utf8)))
    #expect(manifest.user == "u")
    #expect(manifest.stream == 2)
    #expect(manifest.start == 1_772_357_400_125)
    #expect(manifest.hasEndReason)
    #expect(manifest.files.map(\.start) == [250])
    #expect(manifest.files.map(\.segment) == [3])
    #expect(manifest.tracks.map(\.kind) == ["audio"])
    #expect(manifest.tracks.first?.duration == 2_001)
    #expect(manifest.tracks.first?.pauses == [RecordedManifest.Pause(start: 1_000, duration: 500)])
  }

  @Test("Absurd times are clamped, and what is no manifest is nil")
  func hostile() throws {
    let absurd = Self.text.replacing("0.25", with: "1e300").replacing("2.001", with: "-1e300")
    let manifest = try #require(RecordedManifest(parsing: Array(absurd.utf8)))
    #expect(manifest.files.first?.start == 315_360_000_000)
    #expect(manifest.tracks.first?.duration == 0)
    for (old, new) in [
      ("\"version\": 2", "\"version\": 3"), ("2026-03-01T09:30:00.125Z", "today"), ("true", "1"), ("[", "{"), ("}", ""),
    ] {
      #expect(RecordedManifest(parsing: Array(Self.text.replacing(old, with: new).utf8)) == nil, "\(new)")
    }
    #expect(RecordedManifest(parsing: []) == nil)
    #expect(RecordedManifest(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 100_000)) == nil)
  }
}
