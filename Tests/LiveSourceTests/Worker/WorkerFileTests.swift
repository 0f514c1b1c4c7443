import Bitstream
import Codecs
import Foundation
import LiveSource
import Media
import MediaMessages
import NIOCore
import TestSupport
import Testing

@Suite("Files that chatbot-media reads")
struct WorkerFileTests {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  private static let picture = ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=2"]
  private static let tone = ["-f", "lavfi", "-i", "sine=f=440:r=44100:d=2"]

  func make(_ name: String, _ arguments: [String]) throws -> String {
    let path = scratch.path(name)
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [path])
    try #require(result.status == 0, "ffmpeg \(arguments): \(result.errors)")
    // ffmpeg writes the display matrix only of what it copies.
    guard name.hasPrefix("turned"), let angle = Int(name.dropFirst(6).prefix { $0.isNumber }) else { return path }
    return try make("copy-\(name)", ["-i", path, "-c", "copy", "-metadata:s:v", "rotate=\(angle)"])
  }

  func open(_ path: String, _ change: (inout LiveCamera.Options) -> Void = { _ in }) throws -> any FrameSource {
    var options = LiveCamera.Options(input: .file(path), loops: false, owner: someone)
    options.chooseVideoCodecs(nil, allowed: nil)
    change(&options)
    return try LiveCamera.open(options)
  }

  /// The frames of a file as ffmpeg decodes it, upright.
  func decoded(_ path: String, size: Int, _ arguments: [String] = []) throws -> [[UInt8]] {
    let output = scratch.path("decoded-\(UUID().uuidString).yuv")
    let result = try ExternalTool.run(
      "ffmpeg",
      ["-v", "error", "-nostdin", "-y", "-i", path] + arguments
        + ["-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", output])
    try #require(result.status == 0, "\(result.errors)")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    return stride(from: 0, to: bytes.count, by: size * 3 / 2).map { Array(bytes[$0..<$0 + size * 3 / 2]) }
  }

  @Test(
    "H.264 without B-frames is sent as stored, byte for byte, beside audio that is encoded", arguments: ["mp4", "mov"])
  func stored(ending: String) async throws {
    let path = try make(
      "a.\(ending)", Self.picture + Self.tone + ["-c:v", "libx264", "-bf", "0", "-g", "25", "-c:a", "aac"])
    let source = try open(path)
    #expect(source.codecs == [.video: .h264, .audio: .opus] && !source.isLive)
    #expect(source.summary.contains("H.264 128x96, 50 frames in 2.00 s, sent as stored; AAC mono, 44100 Hz"))
    var frames: [EncodedFrame] = []
    for await frame in await source.frames() { frames.append(frame) }
    let video = frames.filter { $0.codec == .h264 }
    #expect(video.count == 50 && video.map(\.time.ticks) == (0..<50).map { Int64($0) * 3_600 })
    #expect(video.filter(\.isKeyframe).count == 2 && video.first?.size == VideoSize(width: 128, height: 96))
    #expect(frames.filter { $0.codec == .opus }.count > 90)
    // A raw stream begins each NAL unit with a start code.
    let copied = try make("copied.h264", ["-i", path, "-map", "0:v", "-c", "copy"])
    let slices = try Self.units(Data(contentsOf: URL(fileURLWithPath: copied))).filter { $0[0] & 0x1f <= 5 }
    let sent = video.flatMap { H264NALUnits($0.payload).map { Array($0.bytes.readableBytesView) } }
    #expect(sent.filter { $0[0] & 0x1f <= 5 } == slices)
    // Each keyframe has its parameter sets.
    for frame in video where frame.isKeyframe {
      #expect(AVCDecoderConfiguration(keyframe: frame.payload)?.parameters.size.width == 128)
    }
  }

  @Test(
    "AV1 is sent as stored, out of WebM and MP4, and encoded where the call does not carry it",
    arguments: ["webm", "mp4"])
  func storedAV1(ending: String) async throws {
    let path = try make(
      "a.\(ending)",
      Self.picture + Self.tone + ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-g", "25"]
        + ["-c:a", ending == "webm" ? "libopus" : "aac"])
    let source = try open(path)
    #expect(source.codecs == [.video: .av1, .audio: .opus] && !source.isLive)
    #expect(source.summary.contains("AV1 128x96, 50 frames in 2.00 s"), "\(source.summary)")
    var frames: [EncodedFrame] = []
    for await frame in await source.frames() { frames.append(frame) }
    let video = frames.filter { $0.codec == .av1 }
    #expect(video.count == 50 && video.filter(\.isKeyframe).count == 2)
    #expect(video.first?.size == VideoSize(width: 128, height: 96))
    for frame in video where frame.isKeyframe { #expect(frame.profile?.hasPrefix("av01.0.") == true) }
    let other = try open(path) { $0.chooseVideoCodecs(nil, allowed: [.vp8, .h264]) }
    #expect(other.isLive && other.codecs[.video] == .vp8)
  }

  @Test("H.265 is sent as stored where the call is said to carry it, and encoded otherwise")
  func storedH265() async throws {
    let path = try make(
      "a.mp4",
      Self.picture + [
        "-c:v", "libx265", "-x265-params", "log-level=none:bframes=0:pools=1", "-g", "25", "-tag:v", "hvc1",
      ])
    #expect(try open(path).codecs == [.video: .vp8])
    let source = try open(path) { $0.chooseVideoCodecs(nil, allowed: [.h265]) }
    #expect(source.codecs == [.video: .h265] && !source.isLive)
    var frames: [EncodedFrame] = []
    for await frame in await source.frames() { frames.append(frame) }
    #expect(frames.count == 50 && frames.filter(\.isKeyframe).count == 2)
    for frame in frames where frame.isKeyframe { #expect(frame.profile?.hasPrefix("hvc1.1.6.L") == true) }
    // Nothing is encoded in H.265.
    let error = #expect(throws: LiveCamera.OpeningError.self) {
      try open(path) {
        $0.chooseVideoCodecs(.h265, allowed: nil)
        $0.live = true
      }
    }
    #expect(
      error?.description.hasSuffix("a.mp4 cannot be sent as H.265: that is sent from files only, as they have it.")
        == true)
  }

  @Test("what cannot be sent as H.265 is refused for the true reason", arguments: ["mp4", "mkv"])
  func notH265(type: String) throws {
    let reordered = try make(
      "b-frames.\(type)",
      Self.picture + ["-c:v", "libx265", "-x265-params", "log-level=none:bframes=2:b-adapt=0:pools=1"])
    let other = try make("other.\(type)", Self.picture + ["-c:v", "libx264", "-bf", "0", "-g", "25"])
    let reasons = [
      reordered: "its frames are not stored in the order in which they are shown (B-frames)",
      other: "its video is H.264",
    ]
    for (path, reason) in reasons {
      let error = #expect(throws: LiveCamera.OpeningError.self) {
        try open(path) { $0.chooseVideoCodecs(.h265, allowed: nil) }
      }
      let text = error?.description ?? ""
      #expect(text.hasSuffix("cannot be sent as H.265: \(reason), and nothing here encodes H.265."), "\(text)")
    }
  }

  @Test("VP8 of a WebM file with Vorbis is sent as stored, beside audio that is encoded")
  func storedBesideVorbis() async throws {
    let path = try make("a.webm", Self.picture + Self.tone + ["-c:v", "libvpx", "-g", "25", "-c:a", "libvorbis"])
    let source = try open(path)
    #expect(source.codecs == [.video: .vp8, .audio: .opus] && !source.isLive)
    #expect(source.summary.contains("VP8 128x96, 50 frames in 2.00 s, sent as stored; Vorbis mono, 44100 Hz"))
    var frames: [EncodedFrame] = []
    for await frame in await source.frames() { frames.append(frame) }
    #expect(frames.filter { $0.codec == .vp8 }.count == 50 && frames.filter { $0.codec == .opus }.count > 90)
  }

  private static func units(_ stream: Data) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var unit: [UInt8] = []
    var zeros = 0
    for byte in stream {
      if byte == 1, zeros >= 2 {
        unit.removeLast(min(zeros, unit.count))
        if !unit.isEmpty { units.append(unit) }
        unit = []
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      unit.append(byte)
    }
    return units + [unit]
  }

  @Test(
    "what cannot be sent as stored is encoded, for a reason that is given",
    arguments: [
      (["-c:v", "libx264", "-bf", "2", "-g", "25"], "a.mp4", "B-frames"),
      (["-c:v", "libx264", "-bf", "2", "-g", "25"], "a.mkv", "B-frames"),
      (["-c:v", "libx265", "-x265-params", "log-level=none"], "a.mp4", "its video is H.265"),
      (["-c:v", "libx264", "-bf", "0", "-g", "25"], "turned90.mov", "it is shown turned by"),
      (["-c:v", "libx264", "-bf", "0", "-pix_fmt", "yuv422p"], "a.mp4", "(4:2:0)"),
    ])
  func encoded(arguments: [String], name: String, reason: String) throws {
    let path = try make(name, Self.picture + Self.tone + arguments + ["-c:a", "aac"])
    let source = try open(path)
    #expect(source.isLive && source.codecs[.video] == .vp8)
    #expect(source.summary.contains("encoded live, because ") && source.summary.contains(reason))
    #expect(try !open(path) { $0.live = true }.summary.contains("because"))
  }

  @Test("keyframes more than 10 s apart make a file be encoded")
  func rareKeyframes() throws {
    let path = try make(
      "a.mp4", ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=12", "-c:v", "libx264", "-bf", "0", "-g", "1000"])
    #expect(try open(path).summary.hasSuffix("encoded live, because its keyframes are up to 12.00 s apart"))
  }

  @Test("a codec that the call does not carry is decoded and encoded")
  func unwanted() throws {
    let path = try make("a.mp4", Self.picture + ["-c:v", "libx264", "-bf", "0", "-g", "25"])
    #expect(try !open(path).isLive)
    let source = try open(path) { $0.chooseVideoCodecs(nil, allowed: [.vp9]) }
    #expect(source.isLive && source.codecs == [.video: .vp9])
    #expect(source.summary.hasSuffix("because its video is H.264"))
  }

  @Test(
    "frames are decoded as ffmpeg decodes them, upright, with their times",
    arguments: [
      ("bframes.mp4", ["-c:v", "libx264", "-bf", "3"]), ("bframes.mkv", ["-c:v", "libx264", "-bf", "3"]),
      ("hevc.mp4", ["-c:v", "libx265", "-x265-params", "log-level=none"]),
      ("fragmented.mp4", ["-c:v", "libx264", "-movflags", "frag_keyframe+empty_moov"]),
      ("turned90.mov", ["-c:v", "libx264"]), ("turned180.mov", ["-c:v", "libx264"]),
      ("turned270.mov", ["-c:v", "libx264"]), ("av1.mp4", ["-c:v", "libsvtav1", "-g", "25"]),
      ("vp9.mkv", ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p10le"]),
    ])
  func decoding(name: String, arguments: [String]) throws {
    let path = try make(name, Self.picture + arguments)
    let found = try InputFile.check(path, rate: nil)
    let video = try #require(found.video)
    let frames = try video.all()
    let isTurned = name.hasPrefix("turned") && !name.hasPrefix("turned180")
    #expect(video.size == (isTurned ? VideoSize(width: 96, height: 128) : VideoSize(width: 128, height: 96)))
    let expected = try decoded(path, size: 128 * 96)
    #expect(frames.count == 50 && expected.count == 50)
    let isSame = zip(frames, expected).allSatisfy { $0.videoFrame.bytes == $1 }
    #expect(isSame)
    #expect(frames.map(\.time) == (0..<50).map { Int64($0) * 28_800 })
    #expect(video.extent == .range(0..<1_440_000))
  }

  @Test("variable frame rates, edit lists and sound keep their times", arguments: ["0.4", "1"])
  func times(left: String) throws {
    // The edit list leaves out the beginning of each, for audio some packets and a part of one; the sound of the file is a mark at 2 s.
    let source = try make(
      "source.mov",
      [
        "-f", "lavfi", "-i", "color=black:s=64x48:r=30:d=4,drawbox=color=white:t=fill:enable='gte(t,2)'", "-f", "lavfi",
        "-i",
        "aevalsrc='if(gte(t,2),sin(2*PI*500*t),0)':d=4:s=44100", "-vf", "select='not(mod(n,3))+gt(mod(n,5),2)'",
        "-fps_mode", "vfr", "-c:v", "libx264", "-bf", "2", "-g", "90", "-c:a", "aac",
      ])
    let path = try make("cut.mov", ["-ss", left, "-i", source, "-c", "copy"])
    let found = try InputFile.check(path, rate: nil)
    let (video, audio) = (try #require(found.video), try #require(found.audio))
    let frames = try video.all()
    let white = try #require(frames.first { $0.videoFrame.luma[24 * 64 + 32] > 128 })
    let samples = try audio.all()
    let loud = try #require(samples.firstIndex { abs($0) > 0.3 })
    guard case .range(let heard) = audio.extent else { throw CancellationError() }
    let sound = Double(heard.lowerBound) / 720_000 + Double(loud / audio.channels) / 48_000
    let sight = Double(white.time) / 720_000
    #expect(abs(sound - sight) < 0.003, "\(sound) \(sight)")
    #expect(Set(zip(frames, frames.dropFirst()).map { $1.time - $0.time }).count > 1)
  }

  @Test("sound of every format is decoded", arguments: ["a.mp3", "a.m4a", "a.aac", "a.mka"])
  func sound(name: String) throws {
    let path = try make(name, Self.tone + (name == "a.mka" ? ["-c:a", "aac"] : []))
    let audio = try #require(try InputFile.check(path, rate: nil).audio)
    let samples = try audio.all()
    #expect(audio.channels == 1 && abs(samples.count - 96_000) < 4_800, "\(samples.count)")
    let middle = Array(samples[24_000..<72_000])
    // A tone of 440 Hz: so many changes of the sign in a second.
    let changes = zip(middle, middle.dropFirst()).count { ($0 < 0) != ($1 < 0) }
    #expect(abs(changes - 880) <= 2)
    #expect(try open(path).codecs == [.audio: .opus])
  }

  @Test("a file is played again from its start, with the same frames")
  func rewinding() throws {
    let path = try make("a.mp4", Self.picture + Self.tone + ["-c:v", "libx264", "-c:a", "aac"])
    let found = try InputFile.check(path, rate: nil)
    let video = try #require(found.video).open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
    var rounds: [[UInt8]] = []
    for _ in 0..<2 {
      var all: [UInt8] = []
      while try video.peek() != nil {
        try video.advance()
        all += try video.videoFrame().luma.prefix(256)
      }
      rounds.append(all)
      try video.rewind()
    }
    #expect(rounds[0] == rounds[1] && rounds[0].count == 50 * 256)
  }

  @Test("a truncated, an encrypted and an unknown file are refused with one sentence")
  func refused() throws {
    let whole = try make("a.mp4", Self.picture + Self.tone + ["-c:v", "libx264", "-bf", "0", "-c:a", "aac"])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: whole)))
    let cut = try scratch.write(Array(bytes.prefix(bytes.count / 2)), as: "cut.mp4")
    for live in [false, true] {
      #expect(rejection(cut, live: live) == "it is truncated: its index (moov) is missing.")
    }
    let key = "00112233445566778899aabbccddeeff"
    let encrypted = try make(
      "e.mp4",
      ["-i", whole, "-c", "copy", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", key, "-encryption_kid", key])
    #expect(try #require(rejection(encrypted)).contains("encrypted"))
    let unknown = try make("u.mkv", Self.picture + ["-c:v", "ffv1"])
    #expect(
      rejection(unknown)
        == "its video is ffv1, and VP8, VP9, H.264, H.265, AV1, MPEG-4 and Motion JPEG are played.")
    // The duration of each frame in the index (ISO/IEC 14496-12, 8.6.1.2): two days.
    let silent = try make("s.mp4", Self.picture + ["-c:v", "libx264", "-bf", "0", "-g", "10"])
    var endless = [UInt8](try Data(contentsOf: URL(fileURLWithPath: silent)))
    let table = try #require(endless.indices.first { endless[$0...].starts(with: "stts".utf8) })
    endless.replaceSubrange(table + 16..<table + 20, with: [0x7f, 0xff, 0xff, 0xff])
    // The edit list states the true end.
    let edits = try #require(endless.indices.first { endless[$0...].starts(with: "edts".utf8) })
    endless.replaceSubrange(edits..<edits + 4, with: "skip".utf8)
    let longFile = try scratch.write(endless, as: "l.mp4")
    for live in [false, true] { #expect(rejection(longFile, live: live) == "it is longer than 100 h.") }
    let garbage = try scratch.write(Array(bytes.prefix(40)) + [UInt8](repeating: 0x41, count: 5_000), as: "g.mp4")
    #expect(rejection(garbage) != nil)
  }

  @Test("damaged files are played or refused with a sentence, whatever becomes of the process that reads them")
  func damaged() throws {
    let whole = try make(
      "a.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.4", "-f", "lavfi", "-i", "sine=d=0.4", "-c:v", "libx264",
        "-c:a", "aac",
      ])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: whole)))
    var generator = SeededGenerator(seed: 3)
    for number in 0..<60 {
      var damaged = bytes
      for _ in 0..<(1 + number % 4) {
        // Most of the damage is in the index, which is at the end.
        let index =
          number % 2 == 0
          ? bytes.count - 1 - Int(generator.next() % 2_000) : Int(generator.next() % UInt64(bytes.count))
        damaged[max(0, index)] = UInt8(truncatingIfNeeded: generator.next())
      }
      let path = try scratch.write(damaged, as: "d.mp4")
      guard let sentence = rejection(path, live: number % 3 == 0) else { continue }
      #expect(sentence.hasSuffix(".") && sentence.allSatisfy { $0.isASCII || $0 == "°" }, "\(sentence)")
    }
  }

  @Test("what a hostile process says of a file is refused or within the limits")
  func hostile() throws {
    var track = FileDescription.Track(kind: .video, codec: "h264")
    track.extradata = Array(repeating: 7, count: 50)
    let description = FileDescription(format: "mp4", tracks: [track, .init(kind: .audio, codec: "aac")]).encoded
    let packets =
      [UInt8](repeating: 9, count: 40)
      + FilePackets([.init(time: 5, duration: 2, isKeyframe: true, size: 30, offset: 10)]).encoded
    let parsed = try packets.withUnsafeBytes { try FilePackets(parsing: $0) }
    #expect(parsed.packets.first?.size == 30 && parsed.packets.first?.time == 5)
    #expect(try description.withUnsafeBytes { try FileDescription(parsing: $0) }.tracks.count == 2)
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<20_000 {
      for original in [description, packets] {
        var bytes = original
        for _ in 0..<(1 + generator.next() % 4) {
          bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
        }
        if generator.next() % 4 == 0 { bytes = Array(bytes.prefix(Int(generator.next() % UInt64(bytes.count)))) }
        bytes.withUnsafeBytes { bytes in
          if let description = try? FileDescription(parsing: bytes) {
            let isWithin = description.tracks.allSatisfy { $0.extradata.count <= MediaLimits.extradataBytes }
            #expect(description.tracks.count <= MediaLimits.tracks && isWithin)
          }
          for packet in (try? FilePackets(parsing: bytes))?.packets ?? [] {
            #expect(packet.size <= MediaLimits.frameBytes)
          }
        }
      }
    }
  }

  @Test("a file that is cut off behind its index is played up to the last whole frame")
  func cutOff() throws {
    let whole = try make(
      "a.mp4", Self.picture + ["-c:v", "libx264", "-bf", "0", "-g", "10", "-movflags", "faststart"])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: whole)))
    let cut = try scratch.write(Array(bytes.prefix(bytes.count * 2 / 3)), as: "cut.mp4")
    let found = try InputFile.check(cut, rate: nil)
    let frames = try #require(found.video).all()
    #expect(frames.count > 10 && frames.count < 50)
    #expect(found.notes.contains("It is truncated; the whole frames are played."))
  }

  @Test("a file of ten minutes with its index at the end is opened soon, with little memory")
  func long() throws {
    let path = try make(
      "a.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=s=64x48:r=30:d=600", "-f", "lavfi", "-i", "sine=d=600", "-c:v", "libx264",
        "-preset",
        "ultrafast", "-bf", "0", "-g", "60", "-c:a", "aac",
      ])
    let before = Self.memory
    let began = ContinuousClock.now
    let source = try open(path)
    #expect(ContinuousClock.now - began < .seconds(20))
    #expect(source.summary.contains("18000 frames in 600.00 s"))
    #expect(Self.memory - before < 64 << 20)
  }

  /// The private memory of this process in bytes.
  private static var memory: Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
  }
}
