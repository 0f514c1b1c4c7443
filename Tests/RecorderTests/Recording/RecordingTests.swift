import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings read by other programs")
struct RecordingTests {
  /// Audio and video of 160x120, with sender reports.
  static func call(_ seconds: Double) throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.tone(seconds), codec: .opus)
    script.add(try TestMedia.videoFrames(seconds), codec: .vp8, base: 7_000_000_000)
    script.addReports(.opus, at: [0.5, 5.5])
    script.addReports(.vp8, at: [0.7, 1.7, 2.7, 3.7], base: 7_000_000_000)
    return script
  }

  @Test("a call becomes a WebM that other programs read without warnings")
  func wholeCall() async throws {
    let folder = TestFolder()
    let summary = try #require(try await folder.record(Self.call(6)).first)
    #expect(folder.names == ["anna.json", "anna.ogg", "anna.webm"])

    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    let probe = try reader.probe()
    #expect(probe.format.formatName.contains("webm"))
    #expect(abs(probe.format.seconds - 6) < 0.06)
    #expect(probe.streams.map(\.codecName) == ["vp8", "opus"])
    #expect(probe.streams[0].width == 160 && probe.streams[0].height == 120)
    #expect(probe.streams[1].channels == 1 && probe.streams[1].sampleRate == "48000")

    let video = try reader.packets("video")
    let audio = try reader.packets("audio")
    #expect(video.count == 180)
    #expect(audio.count == 300)
    #expect(video.first?.isKeyframe == true)
    #expect(video.filter(\.isKeyframe).count == 3)
    #expect(abs(video[90].time - 3) < 0.002)

    let about = try reader.mkvinfo("-a", "-v")
    #expect(about.contains("+ Cues"))
    #expect(about.contains("Document type: webm"))
    #expect(!about.lowercased().contains("error") && !about.lowercased().contains("invalid"))
    #expect(about.components(separatedBy: "+ Cue point").count - 1 == 3)
    #expect(about.contains("Date: 2026-03-01 09:30:00"))
    #expect(summary.manifest.tracks.allSatisfy { $0.decodeErrors == 0 })
  }

  @Test("both files exist within 300 ms if sender reports arrive with the first packets")
  func firstBytes() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    var script = Script("anna")
    script.add(try TestMedia.tone(1), codec: .opus)
    script.add(try TestMedia.videoFrames(1), codec: .vp8)
    script.addReports(.opus, at: [0.01])
    script.addReports(.vp8, at: [0.02])
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 0.3)
    #expect(folder.names.contains("anna.ogg") && folder.names.contains("anna.webm"), "\(folder.names)")
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try !reader.packets("video").isEmpty)
    await recorder.finish(now: Script.beginning + .seconds(0.3))
  }

  @Test("opusinfo finds no fault with the Ogg of a call")
  func ogg() async throws {
    let folder = TestFolder()
    _ = try await folder.record(Self.call(6))
    let reader = Reader(path: "\(folder.path)/anna.ogg")
    let about = try reader.opusinfo()
    #expect(!about.contains("WARNING") && !about.contains("ERROR") && !about.contains("exit code"), "\(about)")
    #expect(about.contains("Pre-skip: 312"))
    #expect(about.contains("Playback length: 0m:05.993s"))
    #expect(try reader.complaints() == "")
    #expect(abs(try reader.probe().format.seconds - 6) < 0.06)
    // Both decoders return a tone with an amplitude of 0.4.
    for decoder in ["libopus", "opus"] {
      let samples = try reader.samples(decoder: decoder)
      #expect(abs(Double(samples.count) / 48_000 - 5.9935) < 0.001)
      #expect((samples.map(abs).max() ?? 0) < 0.6 && (samples.map(abs).max() ?? 0) > 0.3)
    }
  }

  @Test("the bitstream is not changed")
  func untouched() async throws {
    let folder = TestFolder()
    let script = try Self.call(3)
    _ = try await folder.record(script)
    let result = try ExternalTool.run(
      "ffmpeg",
      ["-v", "error", "-i", "\(folder.path)/anna.webm", "-map", "v", "-c", "copy", "-f", "ivf", "\(folder.path)/v.ivf"])
    #expect(result.errors == "")
    let ivf = try folder.bytes("v.ivf")
    var position = 32
    var payloads: [[UInt8]] = []
    while position + 12 <= ivf.count {
      let size = Int(ivf[position]) | Int(ivf[position + 1]) << 8 | Int(ivf[position + 2]) << 16
      payloads.append(Array(ivf[(position + 12)..<(position + 12 + size)]))
      position += 12 + size
    }
    let sent = script.inOrder.compactMap { entry -> [UInt8]? in
      guard case .frame(let frame) = entry.event, frame.codec == .vp8 else { return nil }
      return Array(frame.payload.readableBytesView)
    }
    #expect(payloads == sent)
  }

  @Test("audio and video that start at different times keep their offset in the file", arguments: [-0.4, 0.25, 1.2])
  func offset(seconds: Double) async throws {
    let folder = TestFolder()
    var script = Script()
    let (audioBegin, videoBegin) = (max(0, -seconds), max(0, seconds))
    script.add(try TestMedia.tone(4), codec: .opus, begin: audioBegin) { _ in 0.02 }
    // Video has a longer delay, which must have no effect.
    script.add(try TestMedia.videoFrames(4), codec: .vp8, begin: videoBegin) { _ in 0.12 }
    script.addReports(.opus, at: [2], begin: audioBegin)
    script.addReports(.vp8, at: [2.2], begin: videoBegin)
    let summary = try #require(try await folder.record(script).first)
    let reader = Reader(path: "\(folder.path)/anna.webm")
    let audio = try #require(try reader.packets("audio").first?.time)
    let video = try #require(try reader.packets("video").first?.time)
    // ffprobe shows audio earlier by the codec's delay of 6.5 ms.
    #expect(abs(video - audio - 0.0065 - seconds) < 0.002)
    #expect(summary.manifest.alignment.source == "senderReports")
    #expect(summary.manifest.alignment.error < 0.005)
  }

  @Test("audio alone leaves an Ogg and no WebM")
  func audioOnly() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.tone(4, channels: 2), codec: .opus)
    let summary = try #require(try await folder.record(script).first)
    #expect(folder.names == ["anna.json", "anna.ogg"])
    #expect(summary.manifest.alignment.source == "single")
    #expect(summary.track(.audio)?.channels == 2)
    #expect(try Reader(path: "\(folder.path)/anna.ogg").probe().streams.first?.channels == 2)
  }

  @Test("video alone leaves a WebM and no Ogg")
  func videoOnly() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.videoFrames(4), codec: .vp8)
    _ = try await folder.record(script)
    #expect(folder.names == ["anna.json", "anna.webm"])
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    #expect(try reader.probe().streams.map(\.codecName) == ["vp8"])
    #expect(abs(try reader.probe().format.seconds - 4) < 0.04)
  }

  @Test("a camera that starts later begins a WebM at its own start, with the audio from there on")
  func lateCamera() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.tone(9), codec: .opus)
    script.add(try TestMedia.videoFrames(4), codec: .vp8, begin: 5)
    script.addReports(.opus, at: [1, 6])
    script.addReports(.vp8, at: [5.5, 6.5, 7.5], begin: 5)
    let summary = try #require(try await folder.record(script).first)
    let webM = try #require(summary.manifest.files.first { $0.kind == "webm" })
    let ogg = try #require(summary.manifest.files.first { $0.kind == "ogg" })
    #expect(abs(webM.start - 5) < 0.003 && abs(webM.duration - 4) < 0.04)
    #expect(ogg.start == 0 && abs(ogg.duration - 9) < 0.01)
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    #expect(abs(try reader.packets("audio").count - 200) <= 1)
    #expect(try reader.packets("video").count == 120)
  }

  @Test("audio that starts later is a second track of the same WebM")
  func lateMicrophone() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.videoFrames(8), codec: .vp8)
    script.add(try TestMedia.tone(3), codec: .opus, begin: 5)
    script.addReports(.vp8, at: [1, 5.5, 6.5])
    script.addReports(.opus, at: [6], begin: 5)
    _ = try await folder.record(script)
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    #expect(try reader.probe().streams.map(\.codecName) == ["vp8", "opus"])
    let audio = try reader.packets("audio")
    #expect(audio.count == 150)
    #expect(abs((audio.first?.time ?? 0) - (5 - 0.0065)) < 0.002)
  }

  @Test("video whose size grows is declared with the largest size, and each size is listed")
  func growingVideoFrame() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.videoFrames(2), codec: .vp8)
    let larger = VideoSize(width: 320, height: 180)
    script.add(try TestMedia.videoFrames(2, size: larger), codec: .vp8, begin: 2, base: 1_000_000 + 180_000)
    let summary = try #require(try await folder.record(script).first)
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    #expect(try reader.mkvinfo().contains("Pixel width: 320"))
    #expect(
      summary.track(.video)?.sizes == [
        .init(time: 0, width: 160, height: 120), .init(time: 2, width: 320, height: 180),
      ])
    #expect(summary.track(.video)?.lastDecodedSize?.width == 320)
  }

  @Test("a mute of 3 s is 3 s long in both files")
  func mute() async throws {
    let folder = TestFolder()
    var script = Script()
    let tone = try TestMedia.tone(8)
    script.add(tone.filter { $0.ticks < 2 * 48_000 || $0.ticks >= 5 * 48_000 }, codec: .opus)
    script.add(try TestMedia.videoFrames(8), codec: .vp8)
    _ = try await folder.record(script)
    let ogg = Reader(path: "\(folder.path)/anna.ogg")
    let about = try ogg.opusinfo()
    #expect(!about.contains("WARNING") && !about.contains("ERROR"), "\(about)")
    #expect(try ogg.complaints() == "")
    for decoder in ["libopus", "opus"] {
      let samples = try ogg.samples(decoder: decoder)
      #expect(abs(Double(samples.count) / 48_000 - 7.9935) < 0.001)
      let middle = samples[(3 * 48_000)..<(4 * 48_000)].map(abs).max() ?? 1
      let after = samples[(6 * 48_000)..<(7 * 48_000)].map(abs).max() ?? 0
      #expect(middle < 0.05 && after > 0.3, "\(decoder): \(middle) \(after)")
    }
    let webM = Reader(path: "\(folder.path)/anna.webm")
    #expect(try webM.complaints() == "")
    let times = try webM.packets("audio").map(\.time)
    #expect(abs(times[100] - (5 - 0.0065)) < 0.002)
  }
}
