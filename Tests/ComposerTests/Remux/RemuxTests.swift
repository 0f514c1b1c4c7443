import Composer
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Copying into another container")
struct RemuxTests {
  /// A folder with files that ffmpeg makes.
  private final class Workplace {
    let path: String

    init() throws {
      path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func ffmpeg(_ arguments: [String]) throws {
      let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-y"] + arguments)
      try #require(result.status == 0, "\(result.errors)")
    }

    /// Makes a file with moving video of 3 s at 25 frames a second, and a tone.
    func make(_ name: String, video: [String]?, sound: [String]?) throws -> String {
      var arguments: [String] = []
      if video != nil { arguments += ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=3"] }
      if sound != nil { arguments += ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=3"] }
      try ffmpeg(arguments + (video ?? []) + (sound ?? []) + [file(name)])
      return file(name)
    }

    func remux(_ input: String, _ output: String, sound: String? = nil, overwrites: Bool = false) throws -> Remux.Report
    {
      try Remux(RemuxOptions(input: input, output: file(output), sound: sound, overwrites: overwrites)).run()
    }

    func probe(_ path: String, _ arguments: String...) throws -> [String: Any] {
      let result = try ExternalTool.run("ffprobe", ["-v", "error", "-of", "json"] + arguments + [path])
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      return try #require(json as? [String: Any])
    }

    func streams(_ path: String) throws -> [[String: Any]] {
      try #require(try probe(path, "-show_streams")["streams"] as? [[String: Any]])
    }

    func codecs(_ path: String) throws -> [String] { try streams(path).compactMap { $0["codec_name"] as? String } }

    /// The times of decoded frames, in seconds.
    func times(_ path: String) throws -> [Double] {
      let found = try probe(path, "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time")
      let frames = try #require(found["frames"] as? [[String: Any]])
      return frames.compactMap { ($0["best_effort_timestamp_time"] as? String).flatMap(Double.init) }
    }

    /// The checksums of decoded frames.
    func frames(_ path: String) throws -> [String] {
      let result = try ExternalTool.run(
        "ffmpeg", ["-v", "error", "-i", path, "-map", "0:v:0", "-vsync", "0", "-f", "framemd5", "-"])
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      return result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
        $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
      }
    }

    /// Decoded samples of the left channel at 48 kHz.
    func samples(_ path: String) throws -> [Float] {
      let raw = file("samples.raw")
      try ffmpeg(["-i", path, "-map", "0:a:0", "-f", "f32le", "-ac", "1", "-ar", "48000", raw])
      return try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
  }

  private static let h264 = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-g", "25", "-pix_fmt", "yuv420p"]
  /// What is shown in the order of decoding: a raw stream has no times.
  private static let plain = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "25", "-pix_fmt", "yuv420p"]
  private static let opus = ["-c:a", "libopus", "-b:a", "48k", "-ac", "2"]

  @Test("what a killed process has left is removed, and what another process writes is kept")
  func leftovers() throws {
    let place = try Workplace()
    let input = try place.make("a.mkv", video: ["-c:v", "libx264"], sound: ["-c:a", "libopus"])
    let names = ["b.mp4.1.part", "b.mp4.4711.part", "b.mp4.x.part", "c.mp4.4711.part"]
    for name in names { try Data("rest".utf8).write(to: URL(fileURLWithPath: place.file(name))) }
    let other = open(place.file("b.mp4.1.part"), O_RDWR)
    try #require(other >= 0 && flock(other, LOCK_EX) == 0)
    defer { close(other) }
    _ = try place.remux(input, "b.mp4")
    let left = try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasSuffix(".part") }
    #expect(left.sorted() == ["b.mp4.1.part", "b.mp4.x.part", "c.mp4.4711.part"])
  }

  @Test("H.264 with B-frames is copied, each frame at its time", arguments: ["mp4", "mov", "mkv"])
  func reordered(ending: String) throws {
    let place = try Workplace()
    let input = try place.make("in.mkv", video: Self.h264, sound: Self.opus)
    let report = try place.remux(input, "out.\(ending)", sound: ending == "mov" ? "aac" : nil)
    let output = place.file("out.\(ending)")
    #expect(report.tracks.first == "H.264, 75 frames")
    #expect(try place.frames(output) == place.frames(input))
    let (written, given) = (try place.times(output), try place.times(input))
    #expect(written.count == given.count)
    #expect(zip(written, given).allSatisfy { abs($0 - $1) < 0.0011 }, "\(written)")
    #expect(try place.codecs(output) == ["h264", ending == "mov" ? "aac" : "opus"])
    #expect(place.names == ["in.mkv", "out.\(ending)"])
  }

  @Test(
    "H.265 is copied, without parameter sets in the frames of MP4, and AV1 as well",
    arguments: [
      ("libx265", "mp4", "hevc", "hvc1"), ("libx265", "mov", "hevc", "hvc1"), ("libx265", "mkv", "hevc", nil),
      ("libaom-av1", "mp4", "av1", "av01"), ("libaom-av1", "webm", "av1", nil),
    ])
  func newer(encoder: String, ending: String, name: String, tag: String?) throws {
    let place = try Workplace()
    let options =
      encoder == "libx265"
      ? ["-x265-params", "log-level=none:bframes=2:pools=1:repeat-headers=1"]
      : ["-usage", "realtime", "-cpu-used", "8"]
    let input = try place.make(
      "in.mkv", video: ["-c:v", encoder, "-g", "25", "-pix_fmt", "yuv420p"] + options, sound: nil)
    let report = try place.remux(input, "out.\(ending)")
    let output = place.file("out.\(ending)")
    #expect(report.tracks.first == (encoder == "libx265" ? "H.265, 75 frames" : "AV1, 75 frames"))
    #expect(try place.frames(output) == place.frames(input))
    let stream = try #require(try place.streams(output).first)
    #expect(stream["codec_name"] as? String == name)
    if let tag { #expect(stream["codec_tag_string"] as? String == tag) }
    let (written, given) = (try place.times(output), try place.times(input))
    #expect(zip(written, given).allSatisfy { abs($0 - $1) < 0.0011 }, "\(written)")
  }

  @Test("an MP4 has its index in front, and its frames carry no parameter sets")
  func avc1() throws {
    let place = try Workplace()
    let raw = try place.make("in.h264", video: Self.plain, sound: nil)
    try place.ffmpeg(["-fflags", "+genpts", "-r", "25", "-f", "h264", "-i", raw, "-c", "copy", place.file("in.mkv")])
    _ = try place.remux(place.file("in.mkv"), "out.mp4")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: place.file("out.mp4")))
    let (index, media) = (
      try #require(bytes.range(of: Data("moov".utf8))), try #require(bytes.range(of: Data("mdat".utf8)))
    )
    #expect(index.lowerBound < media.lowerBound)
    // The units of the first frame: each after its length.
    var (rest, kinds) = (bytes[media.upperBound...], [UInt8]())
    while kinds.count < 4, rest.count > 4 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard length > 0, length < rest.count else { break }
      kinds.append(rest.dropFirst(4).first.map { $0 & 0x1F } ?? 0)
      rest = rest.dropFirst(4 + length)
    }
    #expect(kinds.contains(5))
    #expect(!kinds.contains(7) && !kinds.contains(8))
  }

  @Test(
    "H.264 whose parameter sets change is refused for MP4, with the command that encodes it, and copied into Matroska")
  func changes() throws {
    let place = try Workplace()
    let first = try place.make("a.h264", video: Self.plain, sound: nil)
    try place.ffmpeg(
      ["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=1"] + Self.plain + [place.file("b.h264")])
    let both = place.file("both.h264")
    try (Data(contentsOf: URL(fileURLWithPath: first)) + Data(contentsOf: URL(fileURLWithPath: place.file("b.h264"))))
      .write(to: URL(fileURLWithPath: both))
    try place.ffmpeg(["-fflags", "+genpts", "-r", "25", "-f", "h264", "-i", both, "-c", "copy", place.file("in.mkv")])
    let error = #expect(throws: ComposerFailure.self) { _ = try place.remux(place.file("in.mkv"), "out.mp4") }
    let sentence = try #require(error).description
    #expect(sentence.contains("320x240, then 640x360"))
    #expect(sentence.contains("chatbot compose \(place.path)/ -o \(place.file("out.mp4"))"))
    #expect(!place.names.contains { $0.hasPrefix("out") })
    try Data("{}".utf8).write(to: URL(fileURLWithPath: place.file("in.json")))
    let second = #expect(throws: ComposerFailure.self) { _ = try place.remux(place.file("in.mkv"), "out.mp4") }
    #expect(try #require(second).description.contains("chatbot compose \(place.file("in.json")) -o"))
    let report = try place.remux(place.file("in.mkv"), "out.mkv")
    #expect(report.tracks == ["H.264, 100 frames"])
  }

  @Test("VP8 is refused for MP4 and copied into WebM and Matroska")
  func vp8() throws {
    let place = try Workplace()
    let input = try place.make("in.webm", video: ["-c:v", "libvpx", "-b:v", "500k"], sound: Self.opus)
    let error = #expect(throws: ComposerFailure.self) { _ = try place.remux(input, "out.mp4") }
    #expect(try #require(error).description.contains("does not hold VP8"))
    #expect(try #require(error).description.contains("chatbot compose"))
    for name in ["out.webm", "out.mkv"] {
      _ = try place.remux(input, name)
      #expect(try place.frames(place.file(name)) == place.frames(input))
      #expect(try place.codecs(place.file(name)) == ["vp8", "opus"])
      let (copied, given) = (try place.samples(place.file(name)), try place.samples(input))
      #expect(copied == given)
    }
  }

  @Test(
    "turned and mirrored video is shown from an MP4 as from the recording, and refused for what cannot state it",
    arguments: [(-90, 0), (180, 0), (90, 0), (0, 180), (90, 180), (180, 180), (-90, 180)] as [(Int, Int)])
  func turned(roll: Int, yaw: Int) throws {
    let place = try Workplace()
    let input = try place.make("in.mkv", video: Self.plain, sound: nil)
    let edited = try ExternalTool.run(
      "mkvpropedit",
      ["-q", input, "--edit", "track:v1", "--set", "projection-type=0", "--set", "projection-pose-roll=\(roll)"]
        + ["--set", "projection-pose-yaw=\(yaw)"])
    try #require(edited.status == 0, "\(edited.output)")
    _ = try place.remux(input, "out.mp4")
    let frames = try place.frames(place.file("out.mp4"))
    #expect(try frames == place.frames(input))
    #expect(try frames != place.frames(place.make("upright.mkv", video: Self.plain, sound: nil)))
    let error = #expect(throws: ComposerFailure.self) { _ = try place.remux(input, "out.mkv") }
    #expect(try #require(error).description.contains("which is not written into a .mkv file"))
  }

  @Test("the sound is encoded when it is asked for, and stays where it was", arguments: ["aac", "opus"])
  func encoded(codec: String) throws {
    let place = try Workplace()
    let input = try place.make("in.mkv", video: Self.h264, sound: ["-c:a", "pcm_mulaw", "-ar", "8000", "-ac", "1"])
    _ = try place.remux(input, "out.mp4", sound: codec)
    let output = place.file("out.mp4")
    #expect(try place.codecs(output) == ["h264", codec])
    let (copied, given) = (try place.samples(output), try place.samples(input))
    let errors = (-40...40).map { shift in
      (48_000..<57_600).reduce(0.0) { $0 + pow(Double(copied[$1 + shift]) - Double(given[$1]), 2) }
    }
    let best = try #require(errors.indices.min { errors[$0] < errors[$1] }) - 40
    #expect(abs(best) <= 2, "\(best) samples")
  }

  @Test("a gap of the sound is silence of its length in a WAV file")
  func gap() throws {
    let place = try Workplace()
    try place.ffmpeg(
      ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=1"] + Self.opus + [place.file("tone.mka")])
    // The second tone begins after 2 s.
    let list = "file 'tone.mka'\nduration 2\nfile 'tone.mka'\n"
    try list.write(toFile: place.file("list.txt"), atomically: true, encoding: .utf8)
    try place.ffmpeg(["-f", "concat", "-i", place.file("list.txt"), "-c", "copy", place.file("in.mka")])
    let report = try place.remux(place.file("in.mka"), "out.wav")
    #expect(report.tracks == ["PCM from Opus"])
    let samples = try place.samples(place.file("out.wav"))
    #expect(abs(samples.count - 144_000) <= 960)
    func level(_ range: Range<Int>) -> Float { samples[range].map(abs).max() ?? 0 }
    #expect(level(10_000..<40_000) > 0.05)
    #expect(level(55_000..<90_000) < 0.001)
    #expect(level(100_000..<140_000) > 0.05)
  }

  @Test("what no container can hold is a sentence, and so is a missing file")
  func refused() throws {
    let place = try Workplace()
    let input = try place.make("in.ogg", video: nil, sound: Self.opus)
    func sentence(_ input: String, _ output: String, sound: String? = nil) throws -> String {
      let error = #expect(throws: ComposerFailure.self) { _ = try place.remux(input, output, sound: sound) }
      return try #require(error).description
    }
    #expect(try sentence(input, "out.avi").contains("must end with one of"))
    #expect(try sentence(input, "out").contains("must end with one of"))
    #expect(try sentence(input, "out.mov").contains("--audio aac"))
    #expect(try sentence(input, "out.webm", sound: "aac").contains("does not hold AAC"))
    #expect(try sentence(input, "out.mp4", sound: "mp3").contains("--audio is"))
    #expect(try sentence(place.file("none.webm"), "out.webm").contains("cannot be read"))
    try Data("no media".utf8).write(to: URL(fileURLWithPath: place.file("text.webm")))
    #expect(try sentence(place.file("text.webm"), "out.webm").contains("cannot be read"))
    #expect(place.names == ["in.ogg", "text.webm"])
  }

  @Test("a file that is there is overwritten only when it is asked for")
  func overwriting() throws {
    let place = try Workplace()
    let input = try place.make("in.ogg", video: nil, sound: Self.opus)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: place.file("out.webm")))
    #expect(throws: ComposerFailure.self) { _ = try place.remux(input, "out.webm") }
    #expect(try String(contentsOfFile: place.file("out.webm"), encoding: .utf8) == "mine")
    _ = try place.remux(input, "out.webm", overwrites: true)
    #expect(try place.codecs(place.file("out.webm")) == ["opus"])
    #expect(place.names == ["in.ogg", "out.webm"])
  }

  @Test("the same recording gives the same bytes")
  func deterministic() throws {
    let place = try Workplace()
    let input = try place.make("in.mkv", video: Self.h264, sound: Self.opus)
    _ = try place.remux(input, "a.mp4", sound: "aac")
    _ = try place.remux(input, "b.mp4", sound: "aac")
    let (first, second) = (
      try Data(contentsOf: URL(fileURLWithPath: place.file("a.mp4"))),
      try Data(contentsOf: URL(fileURLWithPath: place.file("b.mp4")))
    )
    #expect(first == second)
  }
}
