import CallCheck
import Foundation
import Inspection
import InspectionTestSupport
import Testing

@Suite("Files of a browser's MediaRecorder")
struct MediaRecorderFileTests {
  @Test("are inspected as the browser wrote them", arguments: [("vp8", 81), ("vp9", 80)])
  func inspected(codec: String, frames: Int) throws {
    let file = Bundle.module.bundleURL.appendingPathComponent("Fixtures/chromium-\(codec).webm").path
    let report = try RecordedFolder().inspect([file], "video.fps >= 15", "video.width == 320").report
    #expect(report.verdict == .held)
    let peer = try #require(report.peers.first)
    // As many as ffprobe counts.
    #expect(peer.video?.frames == frames)
    #expect(peer.video?.decodeErrors == 0)
    #expect(peer.audio?.packets == 66)
    #expect((peer.audio?.level ?? -96) > -40)
    // The file has no counts of packets.
    #expect(peer.connection.video == nil && peer.connection.sent == nil)
  }
}
