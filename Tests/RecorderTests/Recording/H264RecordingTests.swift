import Bitstream
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings of H.264")
struct H264RecordingTests {
  private static let small = VideoSize(width: 160, height: 120)
  private static let large = VideoSize(width: 320, height: 180)

  /// Video that changes its size twice, and a tone.
  private static func call() throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.tone(3), codec: .opus)
    let video = try TestMedia.h264(1, size: small)
      .followed(by: TestMedia.h264(1, size: large, profile: "high"), after: 3_000)
      .followed(by: TestMedia.h264(1, size: small), after: 3_000)
    script.add(video, codec: .h264, base: 7_000_000_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.h264, at: [0.7], base: 7_000_000_000)
    return script
  }

  @Test("they are a Matroska file of which other programs decode each frame, also after changes of size and profile")
  func whole() async throws {
    let folder = TestFolder()
    let script = try Self.call()
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(folder.names == ["anna.json", "anna.mkv", "anna.ogg"])
    #expect(manifest.files.map(\.kind) == ["mkv", "ogg"])
    #expect(manifest.files.map(\.codecs) == [["h264", "opus"], ["opus"]])
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.codec == "h264" && track.frames == 90 && track.keyframes == 3 && track.refused == 0)
    #expect(track.sizes?.map(\.width) == [160, 320, 160])
    let changes = try #require(track.codecs)
    #expect(changes.map(\.codec) == ["h264", "h264", "h264"])
    let profiles = changes.map { $0.profile ?? "" }
    #expect(profiles[0].hasPrefix("avc1.42c0") && profiles[1].hasPrefix("avc1.6400") && profiles[2] == profiles[0])
    #expect(changes.map { ($0.time * 10).rounded() } == [0, 10, 20])
    let audio = try #require(manifest.tracks.first { $0.kind == "audio" })
    #expect(audio.codecs?.map(\.profile) == ["opus"])

    let reader = Reader(path: "\(folder.path)/anna.mkv")
    #expect(try reader.complaints() == "")
    let probe = try reader.probe()
    #expect(probe.streams.map(\.codecName) == ["h264", "opus"])
    let video = try reader.packets("video")
    #expect(video.count == 90 && video.filter(\.isKeyframe).count == 3)
    let decoded = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries", "stream=nb_read_frames", "-of",
        "csv=p=0",
        reader.path,
      ])
    #expect(decoded.output.filter(\.isNumber) == "90" && decoded.errors == "")
    let about = try reader.mkvinfo("-a", "-v")
    #expect(about.contains("Document type: matroska") && about.contains("V_MPEG4/ISO/AVC"))
    #expect(
      about.contains("+ Cues") && !about.lowercased().contains("error") && !about.lowercased().contains("invalid"))
    // The frames are stored as they came.
    let blocks = BlockReader(try folder.bytes("anna.mkv"))
    let stored = blocks.blocks.filter { $0.track == MatroskaHeader.videoNumber }.map(\.payload)
    expectSame(stored == script.payloads(.h264))
  }

  @Test(
    "CodecPrivate has the parameter sets of the first keyframe, and a header that knows them is no longer than needed")
  func codecPrivate() async throws {
    let folder = TestFolder()
    let script = try Self.call()
    _ = try await folder.record(script)
    let bytes = ByteBuffer(bytes: try folder.bytes("anna.mkv"))
    let found = try #require(MatroskaHeader.find(in: bytes))
    let stored = try #require(found.header.video?.codecPrivate)
    let configuration = try AVCDecoderConfiguration(parsing: stored)
    let first = try #require(AVCDecoderConfiguration(keyframe: ByteBuffer(bytes: script.payloads(.h264)[0])))
    #expect(configuration.sequenceParameterSets == first.sequenceParameterSets)
    #expect(configuration.pictureParameterSets == first.pictureParameterSets)
    #expect(found.length == MatroskaHeader.length)
    #expect(found.header.video?.size == Self.large && found.header.documentType == .matroska)
  }

  @Test("video that begins after the header was written gets its parameter sets into it")
  func lateVideo() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(6), codec: .opus)
    // Within the time that frames wait for reports, but long after the first cluster.
    script.add(try TestMedia.h264(3), codec: .h264, begin: 2.5)
    _ = try await folder.record(script)
    let reader = Reader(path: "\(folder.path)/anna.mkv")
    #expect(try reader.complaints() == "")
    #expect(try reader.packets("video").count == 90)
    let found = try #require(MatroskaHeader.find(in: ByteBuffer(bytes: folder.bytes("anna.mkv"))))
    #expect(found.length > 2_048 && found.header.video?.codecPrivate != nil)
  }

  @Test("a file that ends because the disk is full is closed, and other programs decode what is in it")
  func fullDisk() async throws {
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    var script = Script("anna")
    script.add(try TestMedia.octets(6, codec: .pcmu), codec: .pcmu)
    script.add(try TestMedia.h264(6, size: Self.small), codec: .h264)
    script.addReports(.pcmu, at: [0.5])
    script.addReports(.h264, at: [0.6])
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 3)
    disk.fill(leaving: 100)
    await folder.play([script], to: recorder, from: 3)
    let end = Script.beginning + .seconds(6)
    let manifest = try #require(try await finishWithBlockedDisk(recorder, at: end).first).manifest
    #expect(manifest.finished && manifest.files.allSatisfy(\.complete))
    #expect(manifest.files.map(\.name) == ["anna.mkv", "anna.mka"])
    try folder.store(disk.files)
    for kind in MediaKind.allCases {
      let track = try #require(manifest.tracks.first { $0.kind == kind.rawValue })
      let sent = script.payloads(kind == .video ? .h264 : .pcmu).count
      let gap = try #require(track.gaps.last)
      #expect(gap.reason == "diskStalled" && gap.frames == sent - Int(track.frames) && gap.frames > 80)
      #expect(track.codecs?.count == 1)
    }
    for name in ["anna.mkv", "anna.mka"] {
      let reader = Reader(path: "\(folder.path)/\(name)")
      #expect(try reader.complaints() == "" && reader.probe().format.seconds > 2, "\(name)")
      #expect(try reader.mkvinfo("-a").contains("+ Cue point"), "\(name)")
      #expect(RoomRecorder.repair(reader.path).map(\.outcome) == [.intact])
    }
  }

  @Test("a file that was never closed is repaired, and keeps its description of the video")
  func repair() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let script = try Self.call()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    let copy = TestFolder()
    try copy.store(
      try Dictionary(uniqueKeysWithValues: folder.names.map { ($0, try folder.bytes($0)) }))
    await recorder.finish(now: Script.beginning + .seconds(3))
    // The manifest was written before the audio was in the one file, and before the other file began.
    var early = try RecordingManifest(parsing: copy.bytes("anna.json"))
    early.files.removeAll { $0.kind == "ogg" }
    if !early.files.isEmpty { early.files[0].codecs = ["h264"] }
    try copy.store(["anna.json": Array(early.json.readableBytesView)])
    let before = BlockReader(try copy.bytes("anna.mkv"))
    #expect(RoomRecorder.repair("\(copy.path)/anna.json").map(\.isComplete) == [true, true, true])
    let after = BlockReader(try copy.bytes("anna.mkv"))
    let isSame = before.blocks == after.blocks && before.blocks.count > 150
    #expect(isSame)
    let reader = Reader(path: "\(copy.path)/anna.mkv")
    #expect(try reader.complaints() == "")
    #expect(try reader.mkvinfo("-a").components(separatedBy: "+ Cue point").count - 1 == 3)
    let manifest = try RecordingManifest(parsing: copy.bytes("anna.json"))
    #expect(manifest.finished && manifest.repaired == true)
    #expect(manifest.files.map(\.codecs) == [["h264", "opus"], ["opus"]])
    #expect(manifest.tracks.first { $0.kind == "video" }?.frames == 60 || manifest.tracks.count == 2)
  }
}
