import Foundation
import Media
import Recorder
import Testing

/// The text that is printed when a recording is closed.
@Suite struct RecordingSummaryTextTests {
  private func text(unwritten: Double, storageError: Int32?, reason: String = "diskStalled") -> String {
    var manifest = RecordingManifest(room: "100", user: "anna", name: nil, start: "2026-03-01T09:30:00.250Z")
    var track = RecordingManifest.Track(codec: .vp8)
    track.duration = 1.613
    track.frames = 48
    track.keyframes = 2
    if unwritten > 0 {
      track.gaps = [.init(reason: reason, start: 1.613, duration: unwritten, packets: 0, frames: 103)]
    }
    manifest.tracks = [track]
    let error = storageError.map { RoomRecorder.StorageError("write to", "out/anna.webm", code: $0) }
    return RecordingSummary(
      participant: ParticipantID("anna"), folder: "out", base: "anna", manifest: manifest, storageError: error
    ).text
  }

  @Test func itSaysWhatWasNotWrittenAndWhy() {
    let full = text(unwritten: 3.42, storageError: ENOSPC)
    #expect(full.contains("1.61 s, 48 frames, 2 keyframes"))
    #expect(full.hasSuffix("; 3.42 s were not written: the disk is full"))
    #expect(text(unwritten: 3.42, storageError: EIO).hasSuffix("not written: the disk failed (Input/output error)"))
    #expect(text(unwritten: 3.42, storageError: nil).hasSuffix("not written: the disk did not keep up"))
    let causes = ["overloaded": "the processor did not keep up", "memoryFull": "the memory for queued frames was full"]
    for (reason, clause) in causes {
      #expect(text(unwritten: 3.42, storageError: nil, reason: reason).hasSuffix("3.42 s were not written: \(clause)"))
    }
  }

  @Test func itSaysNothingOfADiskThatTookEverything() {
    #expect(!text(unwritten: 0, storageError: nil).contains("written"))
  }

  @Test func itSaysWhyThereIsNoMedia() {
    var manifest = RecordingManifest(room: "100", user: "anna", name: nil, start: "2026-03-01T09:30:00.250Z")
    manifest.problems = (0..<8).map {
      "We refused the video of section \($0): only H264 is offered, but we support VP8."
    }
    let text = RecordingSummary(
      participant: ParticipantID("anna"), folder: "out", base: "anna", manifest: manifest, storageError: nil
    ).text
    let lines = text.split(separator: "\n")
    #expect(lines.prefix(2) == ["out/anna.json", "  no media"])
    #expect(lines[2] == "  problem: We refused the video of section 0: only H264 is offered, but we support VP8.")
    #expect(lines.count == 9 && lines[8] == "  and 2 more problems; the manifest lists them")
  }

  @Test func itSaysTheNameOfAUserWithTheBeginningOfTheID() {
    var manifest = RecordingManifest(room: "100", user: "0f3a9c77", name: "Ann", start: "2026-03-01T09:30:00.250Z")
    manifest.tracks = [RecordingManifest.Track(codec: .opus)]
    let summary = RecordingSummary(
      participant: ParticipantID("0f3a9c77"), folder: "out", base: "Ann", manifest: manifest, storageError: nil)
    #expect(summary.text.split(separator: "\n")[1] == "  user Ann (0f3a9c)")
  }

  @Test func itSaysWhichStreamOfAUserItIs() {
    var manifest = RecordingManifest(room: "100", user: "anna", name: nil, start: "2026-03-01T09:30:00.250Z")
    manifest.tracks = [RecordingManifest.Track(codec: .opus)]
    func lines(_ base: String) -> [Substring] {
      let summary = RecordingSummary(
        participant: ParticipantID("anna"), folder: "out", base: base, manifest: manifest, storageError: nil)
      return summary.text.split(separator: "\n")
    }
    #expect(lines("anna").count == 2)
    manifest.stream = .init(number: 2)
    #expect(lines("anna.2").prefix(2) == ["out/anna.2.json", "  stream 2 of anna"])
    manifest.stream.content = "slides"
    #expect(lines("anna.2").prefix(2) == ["out/anna.2.json", "  stream 2 of anna: slides"])
  }
}
