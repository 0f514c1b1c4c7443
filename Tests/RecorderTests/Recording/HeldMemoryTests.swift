import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// The effect on others of participants who send much media and no sender reports, which would align audio and video.
@Suite("Frames that wait for sender reports")
struct HeldMemoryTests {
  /// Video frames of noise at a bitrate.
  private func flood(_ owner: String, bitrate: Int, seconds: Double) throws -> Script {
    let frames = Int(seconds * 30)
    var keyframe = try #require(try TestMedia.videoFrames(0.1).first?.payload)
    let padding = max(0, bitrate / 8 / 30 - keyframe.readableBytes)
    keyframe.writeRepeatingByte(0, count: padding)
    var script = Script(owner)
    script.add(
      (0..<frames).map { .init(ticks: Int64($0) * 3_000, payload: keyframe, isKeyframe: true) }, codec: .vp8)
    return script
  }

  @Test("eight senders of 40 Mb/s without reports cost the others nothing, and less than half the memory is used")
  func floods() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder(verifies: false, memoryLimit: 32 << 20)
    let floods = try (0..<8).map { try flood("flood \($0)", bitrate: 40_000_000, seconds: 5) }
    var honest = Script("anna")
    honest.add(try TestMedia.tone(5), codec: .opus)
    honest.add(try TestMedia.videoFrames(5), codec: .vp8)
    honest.addReports(.opus, at: [2.5])
    honest.addReports(.vp8, at: [2.6])
    let all = floods + [honest]
    for script in all { recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock) }
    let last = await folder.play(all, to: recorder)
    let summaries = await recorder.finish(now: last)
    print("measured: \(recorder.peakMemory >> 10) KiB of memory at most")
    #expect(recorder.peakMemory < 16 << 20)
    let anna = try #require(summaries.first { $0.participant.text == "anna" }).manifest
    #expect(anna.tracks.first { $0.kind == "video" }?.frames == UInt64(honest.payloads(.vp8).count))
    #expect(anna.tracks.first { $0.kind == "audio" }?.frames == UInt64(honest.payloads(.opus).count))
    #expect(anna.alignment.source == "senderReports", "\(anna.alignment)")
    for summary in summaries {
      #expect(summary.manifest.disk?.framesDropped ?? 0 == 0, "\(summary.participant)")
    }
  }
}
