import CallCheck
import Foundation
import Inspection
import InspectionTestSupport
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// Recordings in Matroska: of codecs that WebM does not have.
@Suite struct OtherCodecTests {
  /// A call of two halves: VP8, and Opus up to a time, then PCMU.
  private func record(in folder: RecordedFolder, pcmuFrom change: Double) async throws {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    let id = ParticipantID("anna")
    recorder.begin(id, now: SyntheticPeer.beginning, wallClock: RecordedFolder.wallClock)
    var all = try SyntheticPeer(seconds: 6).arrivals().filter { at, event in
      switch event {
      case .frame(let frame): frame.codec.kind == .video || at < change
      case .clock(let report): report.codec.kind == .video || change > 1
      case .recovering, .statistics, .described: true
      }
    }
    for number in Int(change * 50)..<300 {
      let time = Double(number) / 50 + 0.01
      // A square wave of 500 Hz.
      let payload = ByteBuffer(bytes: (0..<160).map { $0 / 8 % 2 == 0 ? 0xA0 : 0x20 })
      let frame = EncodedFrame(
        owner: id, codec: .pcmu, time: MediaTime(ticks: Int64(number) * 160 + 99, rate: 8_000), payload: payload,
        isKeyframe: true, arrival: SyntheticPeer.instant(time))
      all.append((time, .frame(frame)))
    }
    for (at, event) in all.sorted(by: { $0.at < $1.at }) {
      recorder.receive(event, of: id, now: SyntheticPeer.instant(at))
      await recorder.advance(now: MonotonicInstant(SyntheticPeer.instant(at)))
    }
    await recorder.finish(now: SyntheticPeer.instant(6.02))
  }

  @Test func filesOfG711AreFoundAndJudged() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pcmuFrom: 0)
    #expect(folder.names == ["anna.json", "anna.mka", "anna.mkv"])
    for paths in [[folder.path], [folder.file("anna.json")], [folder.file("anna.mkv"), folder.file("anna.mka")]] {
      let peers = try folder.inspect(paths).report.peers
      #expect(peers.count == 1)
      let peer = try #require(peers.first)
      #expect(peer.id == "anna" && peer.video?.frames == 180 && peer.audio?.packets == 300)
      #expect(peer.audio?.gaps.count == 0 && peer.recordings.map { $0.hasSuffix("mkv") } == [true, false])
    }
  }

  @Test func aChangeOfTheCodecIsNoGap() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pcmuFrom: 3)
    #expect(folder.names == ["anna.0002.mka", "anna.0002.mkv", "anna.json", "anna.ogg", "anna.webm"])
    let peer = try #require(try folder.inspect().report.peers.first)
    #expect(peer.video?.frames == 180 && peer.audio?.packets == 300)
    #expect(peer.audio?.gaps.count == 0 && (peer.audio?.duration ?? 0) > 5.9)
    #expect(peer.recordings.count == 4)
  }

  @Test func aFileWithoutAManifestIsAPeerOfItsOwn() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pcmuFrom: 0)
    try folder.remove("anna.json")
    let peers = try folder.inspect([folder.file("anna.mka")]).report.peers
    #expect(peers.count == 1 && peers.first?.audio?.packets == 300)
  }

  @Test func filesOfAChangedCodecAreFoundByTheNameOfTheFirst() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pcmuFrom: 3)
    // The manifest as it was before the codec changed.
    var manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    manifest.files.removeAll { $0.segment == 2 }
    manifest.finished = false
    try folder.store(Array(manifest.json.readableBytesView), as: "anna.json")
    let peers = try folder.inspect().report.peers
    #expect(peers.count == 1 && peers.first?.audio?.packets == 300 && peers.first?.video?.frames == 180)
  }
}
