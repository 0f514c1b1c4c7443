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

  private func recording(
    of participant: ParticipantID, tracks: Bool = true, files: Int = 1, stream: Int = 1, seconds: Double = 4.5
  ) -> RecordingSummary {
    var manifest = RecordingManifest(room: "100", user: participant.text, name: nil, start: "2026-03-01T09:30:00.000Z")
    manifest.duration = seconds
    manifest.stream = .init(number: stream)
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
    case .paused:
      connect(&log, "bob", sending: [.video], at: 2)
      log.setPaused("bob", true)
      words = "the recording was paused"
      var later = log
      later.setPaused("bob", false)
      #expect(later.summary(endReason: .left("a test"), now: at(9)).users.first?.reason == .noMedia)
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

  @Test("a user who comes again is one user, and a user who is expected is listed only when they are connected")
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

  @Test("after a lost connection, users who are not announced any more have left")
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

  /// The reason of the first user of a call that ends at a time.
  private func reason(_ log: SessionLog, at seconds: Double) -> SessionSummary.Reason? {
    log.summary(endReason: .timeIsUp, now: at(seconds)).users.first?.reason
  }

  @Test("a user who left does not come back because their place in the room is offered again")
  func expectedAgain() throws {
    var log = log
    let expected = SignallingEvent.participantJoined(.init("guest", offerer: .local, isExpected: true))
    log.received(expected, now: at(0))
    connect(&log, "guest", sending: [.audio], at: 2)
    for second in [60.0, 120, 180] {
      log.received(.participantLeft("guest", isRejoinVerified: false), now: at(second))
      log.received(expected, now: at(second))
      log.received(.ended(.init(.closedByParticipant, "Gone.")), of: "guest", announcement: nil, now: at(second + 0.5))
      log.received(.stateChanged(.connecting), of: "guest", announcement: nil, now: at(second + 0.5))
    }
    let summary = log.summary(endReason: .timeIsUp, now: at(200))
    let guest = try #require(summary.users.first)
    #expect(!guest.presentAtEnd && guest.stays == nil && guest.toSeconds == 60.5 && summary.users.count == 1)
    connect(&log, "guest", sending: [.audio], at: 190)
    let again = log.summary(endReason: .timeIsUp, now: at(200)).users.first
    #expect(again?.presentAtEnd == true && again?.stays == 2)
  }

  @Test("a user who is in the room and then only expected has left, unless they are connected")
  func expectedInstead() {
    for isConnected in [false, true] {
      var log = log
      log.received(.participantJoined(.init("guest", offerer: .local)), now: at(1))
      if isConnected { connect(&log, "guest", sending: [.audio], at: 2) }
      log.received(.participantJoined(.init("guest", offerer: .local, isExpected: true)), now: at(60))
      let guest = log.summary(endReason: .timeIsUp, now: at(90)).users.first
      #expect(guest?.presentAtEnd == isConnected && guest?.toSeconds == (isConnected ? 90 : 60))
    }
  }

  @Test("a user of whose offer a part was accepted, and whose connection fails, was not connected")
  func partlyAccepted() throws {
    var log = log
    log.received(.participantJoined(.init("bob", offerer: .remote)), now: at(1))
    let section = RejectedSection(index: 1, kind: "video", reason: .noSupportedCodec, offered: ["H264"])
    for event in [
      .stateChanged(.connecting), .sectionRejected(section), .mediaAnnounced([.audio, .video]),
      .ended(.init(.failed, "No path.")),
    ] as [PeerEvent] {
      log.received(event, of: "bob", announcement: nil, now: at(2))
    }
    let bob = try #require(log.summary(endReason: .timeIsUp, now: at(9)).users.first)
    #expect(bob.reason == .notConnected && bob.explanation == "No path." && bob.refused?.count == 1)
  }

  @Test("a user whose every stay was short left at once, and a user who is present at the end has not left")
  func shortStays() throws {
    var log = log
    for second in [1.0, 300] {
      log.received(.participantJoined(.init("bob", offerer: .remote)), now: at(second))
      log.received(.participantLeft("bob", isRejoinVerified: false), now: at(second + 0.4))
    }
    #expect(reason(log, at: 400) == .leftAtOnce)
    log.received(.participantJoined(.init("bob", offerer: .remote)), now: at(500))
    log.received(.participantLeft("bob", isRejoinVerified: false), now: at(520))
    log.received(.participantJoined(.init("bob", offerer: .remote)), now: at(600))
    log.received(.participantLeft("bob", isRejoinVerified: false), now: at(600.4))
    #expect(reason(log, at: 700) == .noOffer, "one of the stays was long enough for an offer")
  }

  @Test("a user who came just before our end has not left")
  func lastSecond() {
    var log = log
    connect(&log, "guest", sending: [.audio], at: 9.5)
    log.received(.ended(.init(.closedByUs, "The bot left the room.")), of: "guest", announcement: nil, now: at(10.1))
    let guest = log.summary(endReason: .timeIsUp, now: at(10)).users.first
    #expect(guest?.presentAtEnd == true && guest?.reason == .noMedia)
  }

  @Test("a user who made an offer that could not be used has the problem as the reason")
  func unusableOffer() {
    let failures: [[PeerEvent]] = [
      [.problem("Line 3 is no attribute."), .problem("Another one."), .ended(.init(.failed, "No usable offer."))],
      [.reached(.checksBegun), .ended(.init(.failed, "No ICE check was answered."))],
    ]
    for (events, sentence) in zip(failures, ["Line 3 is no attribute.", "No ICE check was answered."]) {
      var log = log
      log.received(.participantJoined(.init("bob", offerer: .remote)), now: at(1))
      for event in events { log.received(event, of: "bob", announcement: nil, now: at(2)) }
      let bob = log.summary(endReason: .timeIsUp, now: at(9)).users.first
      #expect(bob?.reason == .notConnected && bob?.explanation == sentence)
    }
    var log = log
    log.received(.participantJoined(.init("bob", offerer: .remote)), now: at(1))
    log.received(.message(.candidate(.init(candidate: "")), from: "bob"), now: at(2))
    #expect(reason(log, at: 9) == .noOffer)
    log.received(.message(.offer("v=0"), from: "bob"), now: at(2))
    #expect(reason(log, at: 9) == .notConnected)
    log.received(.problem(String(repeating: "x", count: 4_000)), of: "bob", announcement: nil, now: at(3))
    #expect(log.summary(endReason: .timeIsUp, now: at(9)).users.first?.explanation?.utf8.count == 200)
  }

  @Test("users who arrive while we leave are left out, unless they were recorded")
  func afterTheEnd() throws {
    var log = log
    log.received(.participantJoined(.init("anna", offerer: .remote)), now: at(1))
    log.received(.participantLeft("anna", isRejoinVerified: false), now: at(5))
    for name in ["anna", "late", "recorded"] as [ParticipantID] {
      log.received(.participantJoined(.init(name, offerer: .remote)), now: at(10.5))
    }
    log.recorded(recording(of: "recorded"))
    let summary = log.summary(endReason: .timeIsUp, now: at(10))
    #expect(summary.users.map(\.id) == ["anna", "recorded"])
    #expect(summary.users.allSatisfy { $0.from <= $0.to && $0.to <= summary.end && $0.fromSeconds <= $0.toSeconds })
    let anna = try #require(summary.users.first)
    #expect(anna.toSeconds == 5 && !anna.presentAtEnd && anna.stays == nil)
  }

  @Test("the durations of a stream's recordings are summed, and the longest stream counts")
  func durations() {
    var log = log
    connect(&log, "anna", sending: [.audio], at: 1)
    for (stream, seconds) in [(1, 10.0), (1, 20), (2, 25)] {
      log.recorded(recording(of: "anna", stream: stream, seconds: seconds))
    }
    let text = log.summary(endReason: .timeIsUp, now: at(60)).text
    #expect(text.contains("recorded, 3 files, 30.0 s"), "\(text)")
  }

  @Test("further users are counted once for each arrival")
  func omittedArrivals() {
    var log = log
    for number in 0..<10_000 {
      log.received(.participantJoined(.init(ParticipantID("\(number)"), offerer: .remote)), now: at(1))
    }
    for second in [2.0, 4] {
      log.received(.participantJoined(.init("zoe", offerer: .remote)), now: at(second))
      connect(&log, "zoe", sending: [.audio], at: second)
      log.received(.participantLeft("zoe", isRejoinVerified: false), now: at(second + 1))
    }
    connect(&log, "guest", sending: [.audio, .video], at: 5)
    #expect(log.summary(endReason: .timeIsUp, now: at(9)).usersOmitted == 3)
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

  @Test("the text for people is aligned, and has the whole id of a user without a name only")
  func alignedText() {
    var log = log
    let id = "77b1c0de-1111-2222-3333-444455556666"
    log.received(.participantJoined(.init(.init(id), name: "Carl", offerer: .remote)), now: at(1))
    log.received(.participantJoined(.init("3f2a91c0", offerer: .remote)), now: at(1))
    let lines = log.summary(endReason: .timeIsUp, now: at(9)).text.split(separator: "\n")
    #expect(lines.first?.hasSuffix("It ended because the duration has passed.") == true)
    #expect(lines.dropFirst().first?.hasPrefix("  Carl (77b1c0)  0:00:01 to") == true)
    #expect(lines.last?.hasPrefix("  3f2a91c0       0:00:01 to") == true)
    log.received(.participantJoined(.init(.init(id.replacing("77", with: "88")), offerer: .remote)), now: at(1))
    let columns = log.summary(endReason: .timeIsUp, now: at(9)).text.split(separator: "\n").dropFirst()
      .map { line in line.split(separator: "0:00:01 to")[0].count }
    #expect(Set(columns).count == 1)
  }

  @Test("a sentence of the server follows a colon")
  func sentenceOfServer() {
    let text = log.summary(endReason: .signallingClosed("The WHIP server responded 401: no."), now: at(9)).text
    #expect(text.hasSuffix("It ended: The WHIP server responded 401: no."))
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
