import CallCheck
import Foundation
import Inspection
import InspectionTestSupport
import Media
import Recorder
import Testing

/// Finding the recordings of a user who sent several streams.
@Suite struct StreamSearchTests {
  /// Records a user with a camera and, from the second second on, a screen.
  private func record(in folder: RecordedFolder, segment: SegmentLimit? = nil) async throws {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.verifies = false
    configuration.segment = segment
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    let id = ParticipantID("anna")
    recorder.begin(id, now: SyntheticPeer.beginning, wallClock: RecordedFolder.wallClock)
    var all = try SyntheticPeer(seconds: 4).arrivals()
    for (at, event) in try SyntheticPeer(seconds: 4).arrivals() {
      var event = event
      switch event {
      case .frame(var frame):
        frame.stream = 2
        frame.arrival += .seconds(2)
        event = .frame(frame)
      case .clock(var report):
        report.stream = 2
        report.arrival += .seconds(2)
        event = .clock(report)
      case .recovering, .statistics, .described: continue
      }
      all.append((at + 2, event))
    }
    for (at, event) in all.sorted(by: { $0.at < $1.at }) {
      recorder.receive(event, of: id, now: SyntheticPeer.instant(at))
      await recorder.advance(now: MonotonicInstant(SyntheticPeer.instant(at)))
    }
    await recorder.finish(now: SyntheticPeer.instant(6.1))
  }

  private func found(_ paths: String...) -> (files: [[String]], streams: [Int?]) {
    var search = RecordingSearch()
    for path in paths { search.add(path) }
    #expect(search.problems.isEmpty && search.remarks.isEmpty)
    let recordings = search.recordings
    return (recordings.map { $0.files.map(\.name) }, recordings.map { $0.manifest?.content.stream.number })
  }

  @Test func eachStreamIsARecordingOfItsOwn() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder)
    let (files, streams) = found(folder.path)
    #expect(files == [["anna.ogg", "anna.webm"], ["anna.2.ogg", "anna.2.webm"]] && streams == [1, 2])
    // A media file leads to the manifest of its stream, and a manifest to its files alone.
    #expect(found(folder.file("anna.2.webm")).files == [["anna.2.webm"]])
    #expect(found(folder.file("anna.2.webm")).streams == [2] && found(folder.file("anna.webm")).streams == [1])
    #expect(found(folder.file("anna.2.json")).files == [["anna.2.ogg", "anna.2.webm"]])
    #expect(try folder.inspect().report.peers.allSatisfy { $0.video?.frames == 120 })
  }

  @Test func segmentsOfAStreamBelongToIt() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, segment: SegmentLimit(duration: .seconds(2)))
    let (files, streams) = found(folder.path)
    #expect(streams == [1, 2])
    let (camera, screen) = (files.first ?? [], files.last ?? [])
    #expect(camera.count >= 4 && camera.allSatisfy { $0.hasPrefix("anna.000") })
    #expect(screen.count >= 4 && screen.allSatisfy { $0.hasPrefix("anna.2.000") })
    #expect(found(folder.file("anna.2.0002.webm")).streams == [2])
  }

  @Test func aManifestOfVersionOneIsRead() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer())
    try folder.edit("anna.json") { text in
      text.replacingOccurrences(of: "\"version\" : 2", with: "\"version\" : 1")
        .replacingOccurrences(of: "\"endReason\"", with: "\"left\"")
    }
    let report = try folder.inspect().report
    #expect(report.failedRules == [] && report.peer("anna")?.departure?.cause == .left)
  }
}
