import CallCheck
import Media
import Recorder
import Testing

@testable import Inspection

/// The parts of an inspection that need no files.
@Suite struct InspectionPartsTests {
  // MARK: Layout

  @Test func recordingsOfOneCallLieAsTheyWereMade() {
    let layout = InspectionLayout([
      .init(room: "100", began: 5_000, length: 60_000), .init(room: "100", began: 3_500, length: 10_000),
      .init(room: "", began: nil, length: 90_000),
    ])
    #expect(layout.offsets == [1_500, 0, 0])
    #expect(layout.calls == 1)
    #expect(layout.start == 3_500)
  }

  @Test func otherRoomsAndLaterCallsBeginAtZero() {
    let layout = InspectionLayout([
      .init(room: "100", began: 0, length: 60_000), .init(room: "200", began: 20_000, length: 60_000),
      .init(room: "100", began: 660_001, length: 10_000), .init(room: "100", began: 661_001, length: 10_000),
      .init(room: "100", began: 1_000, length: 5_000),
    ])
    #expect(layout.offsets == [0, 0, 0, 1_000, 1_000])
    #expect(layout.calls == 3)
    #expect(InspectionLayout([]).start == nil)
  }

  @Test func aWallClockThatWasSetDoesNotShiftTheRecordingsOfAProcess() {
    func session(_ id: String, _ offset: Int64) -> InspectionLayout.Session { .init(id: id, offset: offset) }
    // The clock was set forward by 90 s after the first recording had begun, and back in another process.
    let layout = InspectionLayout([
      .init(room: "100", began: 95_000, length: 60_000, session: session("a", 7_000)),
      .init(room: "100", began: 0, length: 60_000, session: session("a", 2_000)),
      .init(room: "100", began: 1_000, length: 60_000, session: session("b", 500)),
      .init(room: "100", began: 500, length: 60_000, session: session("b", 2_500)),
      .init(room: "100", began: nil, length: 60_000, session: session("a", 3_000)),
      .init(room: "100", began: 4_000, length: 60_000),
    ])
    #expect(layout.offsets == [5_000, 0, 1_000, 3_000, 0, 4_000])
    #expect(layout.calls == 1)
  }

  // MARK: Names and times

  @Test func aNameTellsItsSegmentAndWhetherItLiesBeside() {
    #expect(RecordedName.segment("anna.0002.webm")?.base == "anna")
    #expect(RecordedName.segment("anna.0002.webm")?.number == 2)
    #expect(RecordedName.segment("a.b.12345.ogg")?.base == "a.b")
    for name in ["anna.webm", "anna.02.webm", "anna.00x2.webm", ".0002.webm", "anna", ""] {
      #expect(RecordedName.segment(name) == nil, "\(name)")
    }
    #expect(RecordedName.isBeside("anna.webm"))
    for name in ["../anna.webm", "/etc/passwd", "a/b.ogg", ".anna.webm", "anna.txt", "a\0.webm", ""] {
      #expect(!RecordedName.isBeside(name), "\(name)")
    }
    #expect(RecordedName.shown("a\u{1B}[2J\n\u{202E}b") == "a?[2J??b")
    #expect(RecordedName.shown(String(repeating: "x", count: 5_000)).count == 300)
  }

  @Test func aManifestsStartIsReadAndWrittenToTheMillisecond() {
    for text in ["2026-03-01T09:30:00.250Z", "1970-01-01T00:00:00.001Z", "2026-12-31T23:59:59.999Z"] {
      #expect(RecordedClock.milliseconds(text).map(RecordedClock.text) == text)
    }
    #expect(RecordedClock.milliseconds("2026-03-01T09:30:00Z") == 1_772_357_400_000)
    for text in ["", "yesterday", "2026-99-01T09:30:00.250Z", "-99999-01-01T00:00:00Z"] {
      #expect(RecordedClock.milliseconds(text) == nil, "\(text)")
    }
  }

  // MARK: Gaps

  private func gap(_ reason: String, _ start: Double, _ duration: Double, packets: Int = 0) -> RecordingManifest.Gap {
    .init(reason: reason, start: start, duration: duration, packets: packets, frames: 0)
  }

  private func units(_ seconds: Double) -> Int64 { Int64((seconds * 720_000).rounded()) }

  @Test func aGapIsFoundByTheFrameBehindIt() {
    var gaps = GapIndex([
      gap("lost", 1, 0.5, packets: 3), gap("waitingForKeyframe", 1.5, 1, packets: 1), gap("recoveredLate", 4, 0.2),
      gap("nonsense", 5, 1), gap("dtx", .infinity, 1), gap("muted", 6, -1), gap("senderPaused", 1e300, 1e300),
    ])
    #expect(gaps.before(units(1)) == nil)
    let first = gaps.before(units(2.499))
    #expect(first?.reason == .waitingForKeyframe)
    #expect(first?.packetsLost == 4)
    #expect(gaps.before(units(2.5)) == nil)
    let late = gaps.before(units(4))
    #expect(late?.reason == .recoveredLate)
    #expect(late?.delay == .milliseconds(200))
    #expect(gaps.before(units(99)) == nil)
  }

  @Test func aTimeIsInsideAGapOrNot() {
    var gaps = GapIndex([gap("lost", 1, 0.5), gap("dtx", 2, 1), gap("recoveredLate", 3.5, 5)])
    #expect(gaps.around(units(0.9)) == nil)
    #expect(gaps.around(units(1)) == .lost)
    #expect(gaps.around(units(1.48)) == .lost)
    #expect(gaps.around(units(1.5)) == nil)
    #expect(gaps.around(units(2.5)) == .dtx)
    #expect(gaps.around(units(4)) == nil)
  }

  // MARK: Counts

  @Test func countsHaveTheirPlaceAtTheGapsAndEndAtTheManifestsSums() {
    let stream = MediaStream(owner: ParticipantID("anna"), number: 2)
    var manifest = RecordingManifest(room: "100", user: "anna", name: nil, start: "")
    var track = RecordingManifest.Track(codec: .vp8)
    track.start = 1
    track.duration = 9
    (track.sent, track.received, track.recovered, track.lost) = (1_000, 900, 60, 40)
    track.keyframeRequests = 5
    track.gaps = [
      gap("lost", 3, 0.5, packets: 10), gap("lost", 6, 0.5, packets: 30), gap("recoveredLate", 4, 0.1),
      gap("waitingForKeyframe", 7, .infinity, packets: .max),
    ]
    manifest.tracks = [track]
    let counts = RecordedCounts(manifest, of: stream)
    var before = counts.sample(at: 0).received[TrackID(of: stream.owner, stream: 2, kind: .video)] ?? TrackStatistics()
    #expect(before.packetsExpected == 0)
    for time in stride(from: 0.5, through: 12, by: 0.5) {
      let now =
        counts.sample(at: time).received[TrackID(of: stream.owner, stream: 2, kind: .video)] ?? TrackStatistics()
      let grows = now.packetsExpected >= before.packetsExpected && now.packetsReceived >= before.packetsReceived
      #expect(grows, "at \(time)")
      #expect(now.packetsLost == (time < 3.5 ? 0 : time < 6.5 ? 10 : 40), "at \(time)")
      #expect(now.packetsRecovered == 0 && now.keyframeRequests == 0, "at \(time)")
      // Packets that were recovered in time have no place, so between the gaps the loss is not known.
      let timing = counts.sample(at: time, since: time - 0.5).timing
      #expect(timing == (time == 3.5 || time == 6.5 ? .packets : .none), "at \(time)")
      before = now
    }
    let last = counts.sample(at: nil).received[TrackID(of: stream.owner, stream: 2, kind: .video)] ?? TrackStatistics()
    #expect(last.packetsExpected == 1_000 && last.packetsReceived == 960 && last.packetsLost == 40)
    #expect(last.packetsRecovered == 60 && last.keyframeRequests == 5)
    #expect(counts.sample(at: nil).timing == .none)
    #expect(counts.sample(at: nil).sent == nil)
    #expect(last.jitter.isNaN)
    #expect(RecordedCounts(nil, of: stream).isEmpty)
  }
}
