import BotPeer
import Call
import Media
import Recorder
import Signalling
import Testing

@Suite("the summary of a call")
struct SessionLogTests {
  private let start = MonotonicInstant.now
  private var log: SessionLog

  init() {
    log = SessionLog(
      room: "100", session: RecordingSession(), clock: WallClock(moment: start, secondsSince1970: 1_700_000_000),
      now: start)
  }

  private func at(_ seconds: Double) -> MonotonicInstant { start + .milliseconds(Int64(seconds * 1_000)) }

  private func recording(of participant: ParticipantID, tracks: Bool = true, files: Int = 1) -> RecordingSummary {
    var manifest = RecordingManifest(room: "100", user: participant.text, name: nil, start: "2026-03-01T09:30:00.000Z")
    manifest.duration = 4.5
    if tracks {
      manifest.tracks = [
        .init(codec: .opus)
      ]
      manifest.files = (0..<files).map {
        .init(name: "\(participant).\($0).ogg", kind: "ogg", start: 0, duration: 4.5, bytes: 9_000, complete: true)
      }
    }
    return RecordingSummary(
      participant: participant, folder: "out", base: participant.text, manifest: manifest, storageError: nil)
  }

  /// A description was exchanged, and the connection was established.
  private func connect(
    _ log: inout SessionLog, _ participant: ParticipantID, sending kinds: Set<MediaKind>, at seconds: Double
  ) {
    for event in [.stateChanged(.connecting), .mediaAnnounced(kinds), .stateChanged(.connected)] as [PeerEvent] {
      log.received(event, of: participant, announcement: nil, now: at(seconds))
    }
  }

  @Test("a recorded user has dates, seconds and files")
  func recorded() throws {
    var log = log
    log.received(.joined(id: "me", others: [.init("anna", name: "Anna", offerer: .local)]), now: at(0.25))
    connect(&log, "anna", sending: [.audio], at: 1)
    log.received(.participantLeft("anna", isRejoinVerified: false), now: at(6))
    log.received(.ended(.init(.closedByParticipant, "Gone.")), of: "anna", announcement: nil, now: at(6.5))
    log.recorded(recording(of: "anna"))
    let summary = log.summary(endReason: .timeIsUp, now: at(10))
    #expect(summary.start == "2023-11-14T22:13:20.000Z" && summary.end == "2023-11-14T22:13:30.000Z")
    #expect(summary.duration == 10 && summary.endReason.cause == "timeIsUp" && summary.recordedUsers == 1)
    let anna = try #require(summary.users.first)
    #expect(anna.name == "Anna" && anna.recorded && anna.reason == nil && anna.explanation == nil)
    #expect(anna.fromSeconds == 0.25 && anna.toSeconds == 6.5 && anna.from == "2023-11-14T22:13:20.250Z")
    #expect(!anna.presentAtEnd && anna.stays == nil)
    let made = try #require(anna.recordings?.first)
    #expect(made.manifest == "anna.json" && made.files.map(\.duration) == [4.5] && made.fileCount == 1)
  }

  @Test("a user who was not recorded has the reason", arguments: SessionSummary.Reason.allCases)
  func reasons(reason: SessionSummary.Reason) throws {
    var log = self.log
    let arrival = SignallingEvent.participantJoined(
      .init("bob", offerer: .remote, direction: reason == .mediaServer ? .sendOnly : .sendReceive))
    if reason == .notRecording {
      log = SessionLog(room: "", session: nil, clock: WallClock(moment: start, secondsSince1970: 0), now: start)
    }
    log.received(arrival, now: at(1))
    var words = ""
    switch reason {
    case .notRecording: words = "nobody was to be recorded"
    case .mediaServer: words = "only receives what we publish"
    case .leftAtOnce:
      log.received(.participantLeft("bob", isRejoinVerified: false), now: at(1.4))
      words = "left after 0.4 s"
    case .noOffer: words = "neither made nor answered an offer"
    case .refused:
      log.received(.stateChanged(.connecting), of: "bob", announcement: nil, now: at(2))
      let section = RejectedSection(
        index: 0, kind: "video", reason: .noSupportedCodec, offered: ["H264"], supported: ["VP8"])
      log.received(.sectionRejected(section), of: "bob", announcement: nil, now: at(2))
      words = "only H264 is offered, but we support VP8"
    case .notConnected:
      log.received(.mediaAnnounced([.video]), of: "bob", announcement: nil, now: at(2))
      log.received(.ended(.init(.failed, "No path.")), of: "bob", announcement: nil, now: at(3))
      words = "No path."
    case .onlyReceives:
      connect(&log, "bob", sending: [], at: 2)
      words = "send nothing"
    case .noMedia:
      connect(&log, "bob", sending: [.video], at: 2)
      log.recorded(recording(of: "bob", tracks: false))
      words = "sent no media"
    case .disk:
      connect(&log, "bob", sending: [.video], at: 2)
      let failed = recording(of: "bob", tracks: false)
      log.recorded(
        RecordingSummary(
          participant: "bob", folder: "out", base: "bob", manifest: failed.manifest,
          storageError: .init("create", "out/bob.webm", code: 28)))
      words = "No space left"
    }
    let summary = log.summary(endReason: .left("a test"), now: at(9))
    let bob = try #require(summary.users.first)
    #expect(bob.reason == reason && !bob.recorded && summary.recordedUsers == 0)
    #expect(bob.explanation?.contains(words) == true, "\(bob.explanation ?? "")")
    let line = reason == .notRecording ? "there at the end" : "not recorded: "
    #expect(summary.text.contains(line) && !summary.text.contains("\u{1B}"))
  }

  @Test("a refused section of a user who was recorded is listed; data channels that are not used are not")
  func partlyRefused() throws {
    var log = log
    connect(&log, "eve", sending: [.audio, .video], at: 1)
    for section in [
      RejectedSection(index: 1, kind: "video", reason: .noSupportedCodec, offered: ["AV1"], supported: ["VP8"]),
      RejectedSection(index: 2, kind: "application", reason: .dataChannelsUnused),
    ] {
      log.received(.sectionRejected(section), of: "eve", announcement: nil, now: at(1))
      log.received(.sectionRejected(section), of: "eve", announcement: nil, now: at(2))
    }
    log.recorded(recording(of: "eve"))
    let summary = log.summary(endReason: .timeIsUp, now: at(3))
    #expect(summary.users.first?.refused?.count == 1 && summary.users.first?.recorded == true)
    #expect(summary.text.contains("AV1"))
  }

  @Test("one who comes again is one user; one who may not be there yet is none before they are connected")
  func visits() throws {
    var log = log
    for second in [1.0, 3, 5] {
      log.received(.participantJoined(.init("anna", offerer: .remote)), now: at(second))
      log.received(.participantLeft("anna", isRejoinVerified: true), now: at(second + 1))
    }
    log.received(.participantJoined(.init("later", offerer: .local, isExpected: true)), now: at(6))
    log.received(.stateChanged(.connecting), of: "later", announcement: nil, now: at(6))
    let anna = try #require(log.summary(endReason: .timeIsUp, now: at(9)).users.first)
    #expect(anna.stays == 3 && anna.fromSeconds == 1 && anna.toSeconds == 6)
    #expect(log.summary(endReason: .timeIsUp, now: at(9)).users.count == 1)
    log.received(.stateChanged(.connected), of: "later", announcement: nil, now: at(7))
    #expect(log.summary(endReason: .timeIsUp, now: at(9)).users.map(\.id) == ["anna", "later"])
  }

  @Test("after a lost connection, who is not announced any more has left")
  func rejoined() throws {
    var log = log
    log.received(
      .joined(id: "me", others: [.init("anna", offerer: .local), .init("bob", offerer: .local)]), now: at(0))
    log.received(.connectionLost(reason: "test", retryAfter: .seconds(1)), now: at(2))
    log.received(.joined(id: "me", others: [.init("bob", offerer: .local)]), now: at(4))
    let users = log.summary(endReason: .timeIsUp, now: at(9)).users
    #expect(users.map(\.presentAtEnd) == [false, true] && users[0].toSeconds == 4 && users[1].stays == nil)
    connect(&log, "bob", sending: [.audio], at: 5)
    log.received(.joined(id: "me", others: []), now: at(6))
    #expect(log.summary(endReason: .timeIsUp, now: at(9)).users[1].presentAtEnd, "the call with them continues")
    log.received(.ended(.init(.connectionLost, "Lost.")), of: "bob", announcement: nil, now: at(7))
    #expect(log.summary(endReason: .timeIsUp, now: at(9)).users[1].toSeconds == 7)
  }

  @Test("10,000 users are listed, and further ones are counted; texts are cut, and the text has 100 lines for users")
  func limits() throws {
    var log = log
    let long = String(repeating: "e\u{301}", count: 4_000)
    for number in 0..<10_020 {
      log.received(.participantJoined(.init(ParticipantID("\(number)"), name: long, offerer: .remote)), now: at(1))
    }
    let summary = log.summary(endReason: .left(long), now: at(9))
    #expect(summary.users.count == 10_000 && summary.usersOmitted == 20)
    #expect((summary.users.first?.name?.utf8.count ?? 0) <= 200)
    let lines = summary.text.split(separator: "\n")
    #expect(lines.count == 102 && lines.last == "  and 9920 more")
    #expect(try summary.json.utf8.count < 10_000 * 1_000)
  }

  @Test("of one recording 1,000 files are listed, and 100,000 of the call; all are counted")
  func manyFiles() throws {
    var log = log
    let ids = (0..<102).map { ParticipantID("\($0)") }
    for id in ids {
      connect(&log, id, sending: [.audio], at: 1)
      log.recorded(recording(of: id, files: id == "0" ? 1_500 : 1_000))
    }
    let recordings = log.summary(endReason: .timeIsUp, now: at(9)).users.compactMap { $0.recordings?.first }
    #expect(recordings.first?.files.count == 1_000 && recordings.first?.fileCount == 1_500)
    #expect(recordings.reduce(0) { $0 + $1.files.count } == 100_000 && recordings.last?.fileCount == 1_000)
  }

  @Test("hostile names cannot control a terminal or break the JSON")
  func hostile() throws {
    var log = log
    log.received(.participantJoined(.init("\u{1B}[2J\n\u{202E}", name: "\u{0}\"\r\n", offerer: .remote)), now: at(1))
    let summary = log.summary(endReason: .left("x"), now: at(9))
    #expect(summary.text.split(separator: "\n").count == 2)
    for text in [summary.text, try summary.json] {
      #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
      #expect(!text.unicodeScalars.contains("\u{202E}"))
    }
  }
}
