import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings of G.711 and G.722")
struct OctetAudioRecordingTests {
  static let codecs: [(Codec, String)] = [(.pcmu, "pcm_mulaw"), (.pcma, "pcm_alaw"), (.g722, "adpcm_g722")]

  @Test("audio alone is a Matroska file that ffmpeg decodes to the samples that were sent", arguments: codecs)
  func alone(codec: Codec, name: String) async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.octets(3, codec: codec), codec: codec)
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(folder.names == ["anna.json", "anna.mka"])
    #expect(manifest.files.map(\.kind) == ["mka"] && manifest.files.map(\.codecs) == [[codec.rawValue]])
    let track = try #require(manifest.tracks.first)
    #expect(track.codec == codec.rawValue && track.frames == 150 && track.channels == 1 && track.gaps.isEmpty)
    #expect(track.codecs == [.init(time: 0, codec: codec.rawValue)])
    #expect(abs(manifest.duration - 3) < 0.001)

    let reader = Reader(path: "\(folder.path)/anna.mka")
    #expect(try reader.complaints() == "")
    let probe = try reader.probe()
    #expect(probe.streams.map(\.codecName) == [name] && probe.streams[0].channels == 1)
    #expect(probe.streams[0].sampleRate == "\(codec.properties.sampleRate ?? 0)")
    #expect(abs(probe.format.seconds - 3) < 0.002)
    #expect(try reader.packets("audio").count == 150)
    let about = try reader.mkvinfo("-a", "-v")
    #expect(about.contains("Document type: matroska") && about.contains("A_MS/ACM") && about.contains("+ Cue point"))
    #expect(!about.lowercased().contains("error") && !about.lowercased().contains("invalid"))
    // The payloads are stored as they came, and decode to the tone.
    expectSame(BlockReader(try folder.bytes("anna.mka")).blocks.map(\.payload) == script.payloads(codec))
    let samples = try reader.samples(decoder: name)
    #expect(
      abs(Double(samples.count) / Double(codec.properties.sampleRate ?? 1) - 3) < 0.01
        && (samples.map(abs).max() ?? 0) > 0.05)
  }

  @Test(
    "with video they are in a Matroska file beside it, and a lost packet is a gap that nothing fills", arguments: codecs
  )
  func withVideo(codec: Codec, name: String) async throws {
    let folder = TestFolder()
    var script = Script("anna")
    let audio = try TestMedia.octets(3, codec: codec)
    script.add(Array(audio[..<60]), codec: codec)
    script.add(Array(audio[65...]), codec: codec)
    script.add(try TestMedia.videoFrames(3), codec: .vp8)
    script.addReports(codec, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.mkv", "anna.mka"])
    #expect(manifest.files.first?.codecs == ["vp8", codec.rawValue])
    let track = try #require(manifest.tracks.first { $0.kind == "audio" })
    #expect(track.frames == 145 && track.concealed == 0 && track.gaps.count == 1)
    #expect(abs((track.gaps.first?.duration ?? 0) - 0.1) < 0.002)
    for file in ["anna.mkv", "anna.mka"] {
      let reader = Reader(path: "\(folder.path)/\(file)")
      #expect(try reader.complaints("-enc_time_base", "-1") == "")
      let times = try reader.packets("audio").map(\.time)
      #expect(times.count == 145 && abs(times[60] - times[59] - 0.12) < 0.002, "\(file)")
    }
    #expect(try Reader(path: "\(folder.path)/anna.mkv").probe().streams.map(\.codecName) == ["vp8", name])
  }

  @Test("a file that was never closed is repaired, with a cue for each cluster")
  func repair() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    var script = Script("anna")
    script.add(try TestMedia.octets(6, codec: .pcma), codec: .pcma)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    let copy = TestFolder()
    try copy.store(try Dictionary(uniqueKeysWithValues: folder.names.map { ($0, try folder.bytes($0)) }))
    await recorder.finish(now: Script.beginning + .seconds(6))
    let before = BlockReader(try copy.bytes("anna.mka"))
    #expect(before.blocks.count > 250)
    #expect(RoomRecorder.repair("\(copy.path)/anna.json").map(\.isComplete) == [true, true])
    let after = BlockReader(try copy.bytes("anna.mka"))
    #expect(before.blocks == after.blocks)
    let reader = Reader(path: "\(copy.path)/anna.mka")
    #expect(try reader.complaints() == "")
    let cues = try reader.mkvinfo("-a").components(separatedBy: "+ Cue point").count - 1
    #expect(cues == after.clusters.count)
    let manifest = try RecordingManifest(parsing: copy.bytes("anna.json"))
    let track = try #require(manifest.tracks.first)
    #expect(manifest.finished && track.frames == UInt64(after.blocks.count))
    #expect(abs(track.duration - Double(after.blocks.count) / 50) < 0.002)
  }
}
