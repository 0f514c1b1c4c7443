import Foundation
import MediaMessages
import MediaWorker
import TestSupport
import Testing

@Suite("Writing of containers")
struct ContainerTests {
  private struct Case: Sendable, CustomTestStringConvertible {
    let format: ContainerFormat
    let video: TrackCodec?
    let sound: TrackCodec
    var testDescription: String { "\(format.ending) \(video.map { "\($0)" } ?? "") \(sound)" }
  }

  private static let cases = [
    Case(format: .mp4, video: .h264, sound: .aac), Case(format: .mp4, video: .h264, sound: .opus),
    Case(format: .mp4, video: .av1, sound: .aac), Case(format: .mp4, video: .vp9, sound: .opus),
    Case(format: .mov, video: .h264, sound: .aac), Case(format: .webm, video: .vp9, sound: .opus),
    Case(format: .webm, video: .vp8, sound: .opus), Case(format: .webm, video: .av1, sound: .opus),
    Case(format: .mkv, video: .h264, sound: .opus), Case(format: .mkv, video: .h264, sound: .aac),
    Case(format: .m4a, video: nil, sound: .aac), Case(format: .ogg, video: nil, sound: .opus),
    Case(format: .webm, video: nil, sound: .opus),
  ]

  private struct Written {
    let folder: TemporaryFolder
    let path: String
    var bytes: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: path)) } }
  }

  private func write(_ wanted: Case, chapters: Bool = true, texts: Bool = true) throws -> Written {
    let folder = try TemporaryFolder()
    let path = folder.file("file.\(wanted.format.ending)")
    var (tracks, packets): ([ContainerSettings.Track], [[EncodedPacket]]) = ([], [])
    if let codec = wanted.video {
      let video = try MadeMedia.video(try MadeMedia.settings(codec))
      tracks.append(video.track)
      packets.append(video.packets)
    }
    let sound = try MadeMedia.sound(wanted.sound)
    tracks.append(sound.track)
    packets.append(sound.packets)
    if texts, wanted.format.codecs.contains(.text) {
      tracks.append(.text(language: "eng", name: "Chat"))
      packets.append(Self.messages)
    }
    let settings = ContainerSettings(
      format: wanted.format, tracks: tracks,
      chapters: chapters
        ? [
          ContainerSettings.Chapter(start: 0, end: 1_000, title: "Alice joins"),
          ContainerSettings.Chapter(start: 1_000, end: 3_000, title: "Зоя <b>joins</b>"),
        ] : [], title: "A meeting")
    try MadeMedia.write(settings, packets, to: path)
    return Written(folder: folder, path: path)
  }

  private static let messages = [
    EncodedPacket(pts: 500, dts: 500, duration: 1_000, isKeyframe: true, bytes: Array("alice: hello".utf8)),
    EncodedPacket(
      pts: 2_000, dts: 2_000, duration: 800, isKeyframe: true, bytes: Array("bob: <i>1 & 2</i>\n\nend".utf8)),
  ]

  private func probe(_ path: String, _ arguments: String...) throws -> [String: Any] {
    let result = try ExternalTool.run("ffprobe", ["-v", "error", "-of", "json"] + arguments + [path])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(json as? [String: Any])
  }

  @Test("ffprobe finds the tracks, the chapters and the length", arguments: cases)
  private func tracks(wanted: Case) throws {
    let file = try write(wanted)
    let found = try probe(file.path, "-show_streams", "-show_chapters", "-show_format", "-count_frames")
    let streams = try #require(found["streams"] as? [[String: Any]])
    let names = streams.compactMap { $0["codec_name"] as? String }
    let expected = [wanted.video?.name, wanted.sound.name].compactMap { $0 }
    #expect(names.filter { expected.contains($0) } == expected)
    if wanted.video != nil {
      let video = try #require(streams.first { $0["codec_type"] as? String == "video" })
      #expect(video["nb_read_frames"] as? String == "90")
      #expect(video["avg_frame_rate"] as? String == "30/1")
      #expect(video["width"] as? Int == 320)
      // VP8 has no way to say it, and means nothing else.
      if wanted.video != .vp8 || wanted.format == .mkv {
        #expect(video["color_space"] as? String == "smpte170m" && video["color_range"] as? String == "tv", "\(video)")
      }
    }
    let format = try #require(found["format"] as? [String: Any])
    let seconds = try #require((format["duration"] as? String).flatMap(Double.init))
    #expect(abs(seconds - 3) < 0.025, "\(seconds)")
    if wanted.format != .ogg {
      let chapters = try #require(found["chapters"] as? [[String: Any]])
      #expect(
        chapters.compactMap { ($0["tags"] as? [String: Any])?["title"] as? String } == [
          "Alice joins", "Зоя <b>joins</b>",
        ])
      #expect(chapters.compactMap { ($0["start_time"] as? String).flatMap(Double.init) } == [0, 1])
    }
  }

  @Test("the frames are shown at their times, and the sound begins with its first sample", arguments: cases)
  private func times(wanted: Case) throws {
    let file = try write(wanted)
    if wanted.video != nil {
      let frames = try times(file.path, "v:0")
      #expect(frames.count == 90)
      for (number, time) in frames.enumerated() { #expect(abs(time - Double(number) / 30) < 0.0011, "frame \(number)") }
    }
    // The first packet comes before the first sample that is heard, as far as the unit of the container can say it.
    let delay = try MadeMedia.sound(wanted.sound, samples: 1).track.delay
    let listed = try probe(file.path, "-select_streams", "a:0", "-show_packets")
    let text = ((listed["packets"] as? [[String: Any]])?.first)?["pts_time"] as? String
    let first = try #require(text.flatMap(Double.init))
    if wanted.format != .ogg { #expect(abs(first + Double(delay) / 48_000) < 0.0011, "\(first)") }
    let raw = file.folder.file("sound.raw")
    let decoding = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:a:0", "-f", "f32le", "-ac", "2", "-ar", "48000", "-y", raw])
    #expect(decoding.status == 0, "\(decoding.errors)")
    let decoded = try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
      Array($0.bindMemory(to: Float.self))
    }
    let given = MadeMedia.tone(samples: 144_000)
    #expect(abs(decoded.count - given.count) <= 2 * 2_048, "\(decoded.count / 2) samples")
    // Matroska does not say that AAC begins with samples that are not heard; their time is negative.
    let lead = wanted.format == .mkv && wanted.sound == .aac ? delay : 0
    // The phase of the tone tells where the sound is, to the sample.
    let middle = 2 * 48_000..<2 * 52_800
    let errors = [-2, -1, 0, 1, 2].map { shift in
      middle.reduce(0.0) { sum, index in
        sum + pow(Double(decoded[index + 2 * (shift + lead)]) - Double(given[index]), 2)
      }
    }
    #expect(errors.min() == errors[2], "\(errors)")
  }

  private func times(_ path: String, _ stream: String) throws -> [Double] {
    let found = try probe(path, "-select_streams", stream, "-show_entries", "frame=best_effort_timestamp_time")
    let frames = try #require(found["frames"] as? [[String: Any]])
    return frames.compactMap { ($0["best_effort_timestamp_time"] as? String).flatMap(Double.init) }
  }

  @Test("nothing in a file tells when it was written: the same packets give the same bytes", arguments: cases)
  private func deterministic(wanted: Case) throws {
    let (first, second) = (try write(wanted), try write(wanted))
    let (one, two) = (try first.bytes, try second.bytes)
    #expect(one == two)
  }

  @Test("an MP4 has its index in front, the brand of version 2, and the boxes that QuickTime wants")
  func boxes() throws {
    let file = try write(Case(format: .mp4, video: .h264, sound: .aac))
    let bytes = [UInt8](try file.bytes)
    let top = ISOBox.parse(bytes[...])
    #expect(top.map(\.type) == ["ftyp", "moov", "free", "mdat"])
    let brands = String(decoding: try #require(top.first).body, as: UTF8.self)
    #expect(brands.hasPrefix("mp42"))
    let moov = try #require(top.first { $0.type == "moov" })
    let video = try #require(moov.descendants.first { $0.type == "avc1" })
    #expect(moov.descendants.contains { $0.type == "mp4a" })
    #expect(moov.descendants.contains { $0.type == "chpl" })
    // Sample entry of 78 bytes, then the configuration: version 1, profile high, and no chroma but 4:2:0 without extensions.
    let configuration = try #require(ISOBox.parse(video.body.dropFirst(78)).first { $0.type == "avcC" })
    // The colours of ITU-R BT.601: primaries, transfer and matrix 6, samples of 16 to 235.
    let colours = try #require(ISOBox.parse(video.body.dropFirst(78)).first { $0.type == "colr" })
    let named = Array(colours.body)
    #expect(named == Array("nclx".utf8) + [0, 6, 0, 6, 0, 6, 0])
    let fields = Array(configuration.body.prefix(2))
    #expect(fields == [1, 100])
    // Times of creation are 0: version 0, flags, then two times of 4 bytes.
    let header = try #require(moov.descendants.first { $0.type == "mvhd" })
    #expect(Array(header.body.prefix(12)) == [UInt8](repeating: 0, count: 12))
  }

  @Test("without the wish the index of an MP4 is behind the media")
  func indexBehind() throws {
    let folder = try TemporaryFolder()
    let (packets, track) = try MadeMedia.video(try MadeMedia.settings(.h264))
    let path = folder.file("file.mp4")
    try MadeMedia.write(
      ContainerSettings(format: .mp4, tracks: [track], hasIndexInFront: false), [packets], to: path)
    let types = ISOBox.parse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[...]).map(\.type)
    #expect(types == ["ftyp", "free", "mdat", "moov"])
  }

  @Test(
    "mkvinfo reads WebM and Matroska, whose identifiers follow from their place",
    arguments: [ContainerFormat.webm, .mkv])
  func matroska(format: ContainerFormat) throws {
    let isWebM = format.ending == "webm"
    let file = try write(Case(format: format, video: isWebM ? .vp9 : .h264, sound: .opus))
    let result = try ExternalTool.run("mkvinfo", ["--ui-language", "en_US", file.path])
    #expect(result.status == 0)
    #expect(result.output.contains("Document type: \(isWebM ? "webm" : "matroska")"))
    for line in ["Codec ID: A_OPUS", "Codec ID: \(isWebM ? "V_VP9" : "V_MPEG4/ISO/AVC")", "Seek pre-roll", "Chapters"] {
      #expect(result.output.contains(line), "\(line)")
    }
    #expect(!result.output.contains("Date:"))
    #expect(!result.output.contains("Segment UID"))
  }

  @Test(
    "messages are subtitles at their times, and what looks like markup is text",
    arguments: [(ContainerFormat.mp4, "mov_text"), (.webm, "webvtt"), (.mkv, "subrip")])
  func subtitles(format: ContainerFormat, coding: String) throws {
    let isMP4 = format.ending != "webm" && format.ending != "mkv"
    let file = try write(
      Case(format: format, video: format.ending == "webm" ? .vp9 : .h264, sound: isMP4 ? .aac : .opus))
    let found = try probe(file.path, "-select_streams", "s", "-show_streams", "-show_packets")
    let streams = try #require(found["streams"] as? [[String: Any]])
    #expect(streams.contains { $0["codec_name"] as? String == coding })
    let packets = try #require((found["packets"] ?? found["packets_and_frames"]) as? [[String: Any]])
    let times = packets.compactMap { ($0["pts_time"] as? String).flatMap(Double.init) }
    #expect(times.contains(0.5) && times.contains(2))
    let text = file.folder.file("chat.vtt")
    let result = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-copyts", "-i", file.path, "-map", "0:s:0", "-y", text])
    #expect(result.status == 0, "\(result.errors)")
    let lines = try String(contentsOfFile: text, encoding: .utf8)
    #expect(lines.contains("alice: hello"))
    #expect(lines.contains("00:00.500 --> 00:01.500"))
    #expect(lines.contains("end"))
  }

  @Test("a file is refused that the container cannot hold, and packets of no track")
  func refused() throws {
    let folder = try TemporaryFolder()
    let descriptor = open(folder.file("file.webm"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let (_, track) = try MadeMedia.video(try MadeMedia.settings(.h264), frames: 0..<2)
    #expect(throws: MediaWorkerError.refused("webm cannot hold it")) {
      _ = try ContainerWriter(descriptor: descriptor, ContainerSettings(format: .webm, tracks: [track]))
    }
    let writer = try ContainerWriter(descriptor: descriptor, ContainerSettings(format: .mkv, tracks: [track]))
    let packet = EncodedPacket(pts: 0, dts: 0, duration: 1, isKeyframe: true, bytes: [1])
    #expect(throws: MediaWorkerError.self) { try writer.write(packet, track: 1) }
  }

  @Test("settings survive the way to the worker")
  func settings() throws {
    let settings = ContainerSettings(
      format: .mkv,
      tracks: [
        .video(.h264, width: 640, height: 480, unit: (1_001, 30_000), privateData: [1, 2, 3], rotation: 90),
        .video(.vp9, width: 320, height: 240, unit: (1, 90_000), privateData: [], rotation: 270, isMirrored: true),
        .audio(.opus, channels: 2, frame: 960, delay: 312, privateData: [4]), .text(language: "eng", name: "Чат"),
      ],
      chapters: [ContainerSettings.Chapter(start: 0, end: 5, title: "a\nb")], title: "T")
    let parsed = try settings.encoded.withUnsafeBytes { try ContainerSettings(parsing: $0) }
    #expect(parsed.tracks == settings.tracks && parsed.format == settings.format && parsed.title == "T")
    #expect(parsed.chapters.first?.title == "a b")
  }
}

/// A box of a file of the ISO base media format.
private struct ISOBox {
  let type: String
  let body: ArraySlice<UInt8>

  private static let containers: Set = ["moov", "trak", "mdia", "minf", "stbl", "udta", "edts", "dinf"]

  static func parse(_ bytes: ArraySlice<UInt8>) -> [ISOBox] {
    var (boxes, rest) = ([ISOBox](), bytes)
    while rest.count >= 8 {
      let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      guard size >= 8, size <= rest.count else { break }
      boxes.append(ISOBox(type: type, body: rest.dropFirst(8).prefix(size - 8)))
      rest = rest.dropFirst(size)
    }
    return boxes
  }

  /// All boxes in it, those of sample descriptions included.
  var descendants: [ISOBox] {
    let inner =
      Self.containers.contains(type) ? Self.parse(body) : type == "stsd" ? Self.parse(body.dropFirst(8)) : []
    return inner + inner.flatMap(\.descendants)
  }
}
