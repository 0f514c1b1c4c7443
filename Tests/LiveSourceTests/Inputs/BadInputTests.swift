import Codecs
import Foundation
import Glibc
import LiveSource
import Media
import TestSupport
import Testing

@Suite("Inputs that cannot be played")
struct BadInputTests {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  func y4m(_ header: String, videoFrames: Int = 1, bytes: Int = 64 * 48 * 3 / 2) -> [UInt8] {
    Array("YUV4MPEG2 \(header)\n".utf8)
      + (0..<videoFrames).flatMap { _ in Array("FRAME\n".utf8) + [UInt8](repeating: 90, count: bytes) }
  }

  func refused(_ bytes: [UInt8], as name: String = "a.y4m") throws -> String? {
    rejection(try scratch.write(bytes, as: name))
  }

  @Test("paths that are no files and unknown formats are refused")
  func notFiles() throws {
    #expect(rejection("nowhere/a.y4m") == "no such file or directory.")
    #expect(rejection(scratch.url.path) == "it is a directory, a pipe or a device, not a file.")
    #expect(try refused([]) == "it is empty.")
    let played = "MP4, MOV, Matroska, WebM, IVF, Y4M, Ogg, M4A, MP3, AAC, WAV, FLAC and PNG are played."
    #expect(try refused(Array("hello".utf8)) == "its format is unknown; \(played)")
    #expect(try refused(Array("GIF89a..".utf8)) == "it is a GIF image, and \(played)")
    // The same sentence when nothing requires encoding.
    #expect(
      rejection(try scratch.write(Array("#!/bin/sh".utf8), as: "a.sh"), live: false) == "it is a script, and \(played)")
  }

  @Test(
    "a Y4M file with an unsupported header is refused",
    arguments: [
      ("W64 H48 F0:1", "its frame rate is 0:1, and one frame a minute to 1000 a second is played."),
      ("W64 H48 F30:0", "its frame rate is 30:0, and one frame a minute to 1000 a second is played."),
      ("W64 H48 F9999999:1", "its frame rate is 9999999:1, and one frame a minute to 1000 a second is played."),
      ("W64 H48 F0:0", "its frame rate is 0; a rate can be given (--fps)."),
      ("W64 H48", "its frame rate is 0; a rate can be given (--fps)."),
      ("W64 H48 F-30:1", "its frame rate is -30:1, and one frame a minute to 1000 a second is played."),
      ("W64 H48 Fxy", "its frame rate xy is not a fraction."),
      ("W7680 H4320 F30:1", "its frames are 7680x4320, and a side must be 16 to 4096 pixels."),
      ("W999999999999 H2 F30:1", "its frames are 999999999999x2, and a side must be 16 to 4096 pixels."),
      ("W99999999999999999999 H2 F30:1", "its Y4M header states no size."),
      ("W0 H48 F30:1", "its Y4M header states no size."),
      ("W2 H2 F30:1", "its frames are 2x2, and a side must be 16 to 4096 pixels."),
      ("H48 F30:1", "its Y4M header states no size."),
      ("W64 H48 F30:1 It", "its video is interlaced, and only progressive video is played."),
      ("W64 H48 F30:1 C420p10", "its frames have more than 8 bits a value (420p10), and 8 are played."),
      ("W64 H48 F30:1 Cmono16", "its frames have more than 8 bits a value (mono16), and 8 are played."),
      ("W64 H48 F30:1 C411", "its colours are 411, and only 420, 422, 444 and mono with 8 bits are played."),
    ])
  func y4mHeaders(_ header: String, _ sentence: String) throws {
    #expect(try refused(y4m(header)) == sentence)
  }

  @Test("a truncated Y4M file is played up to the last whole frame, or refused if there is none")
  func truncatedY4M() throws {
    let whole = y4m("W64 H48 F30:1", videoFrames: 3)
    let camera = try LiveCamera(
      opening: .init(input: .file(scratch.write(Array(whole.dropLast(10)), as: "b.y4m")), owner: someone))
    #expect(camera.notes == ["It is truncated; the whole frames are played."])
    #expect(camera.summary.contains("Y4M 64x48, 2 frames at 30 a second"))
    #expect(
      try refused(Array(whole.prefix(2_000))) == "it has no whole frame: one of 64x48 has 4608 bytes.")
    #expect(try refused(Array(whole.prefix(14))) == "its Y4M header has no end within 1024 bytes.")
    #expect(
      try refused(Array("YUV4MPEG2 ".utf8) + [UInt8](repeating: 65, count: 5_000))
        == "its Y4M header has no end within 1024 bytes.")
    var bad = whole
    bad[24] = 88
    #expect(try refused(bad) == "no frame begins at byte 24.")
  }

  @Test(
    "unsupported codecs are refused by name",
    arguments: [
      (
        "a.mkv", "ffv1", "libopus",
        "its video is ffv1, and VP8, VP9, H.264, H.265, AV1, MPEG-4 and Motion JPEG are played."
      ),
      (
        "b.mkv", "libvpx", "wmav2",
        "its audio is wmav2, and Opus, AAC, MP3, Vorbis, FLAC, ALAC, AC-3, PCM, G.711 and G.722 are played."
      ),
    ])
  func codecs(_ name: String, _ video: String, _ audio: String, _ sentence: String) throws {
    let path =
      audio == "none"
      ? try scratch.make(name, "-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=0.3", "-c:v", video)
      : try scratch.make(
        name, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=0.3", "-f", "lavfi", "-i", "sine=d=0.3:r=48000", "-c:v",
        video,
        "-c:a", audio)
    #expect(rejection(path, live: false) == sentence)
    #expect(rejection(path, live: true) == sentence)
  }

  @Test("impossible sizes and frame rates are refused")
  func options() throws {
    let path = try scratch.write(y4m("W64 H48 F30:1"), as: "a.y4m")
    func sentence(_ width: Int, _ height: Int) -> String? {
      rejection(path, size: VideoSize(width: width, height: height))
    }
    #expect(sentence(641, 480) == "The size 641x480 is not possible: both sides must be even.")
    #expect(sentence(0, 480) == "The size 0x480 is not possible: a side must be 16 to 4096 pixels.")
    #expect(sentence(7_680, 4_320) == "The size 7680x4320 is not possible: a side must be 16 to 4096 pixels.")
    #expect(sentence(-2, .max) != nil)
    for fps in [0, -1, 1_000, .nan, .infinity, 0.01] {
      #expect(
        rejection(path, fps: fps)?.hasSuffix("frames a second are not possible: the rate must be 0.1 to 120.") == true)
    }
    #expect(rejection(path, fps: 0)?.hasPrefix("0 frames") == true)
    #expect(rejection(path, fps: 25) == nil)
    let audio = try scratch.make("a.wav", "-f", "lavfi", "-i", "sine=d=0.2")
    #expect(rejection(path, audio: audio) == nil)
    #expect(rejection(path, audio: path) == "it has no audio.")
    #expect(rejection(path, audio: "nowhere.wav") == "nowhere.wav cannot be played: no such file or directory.")
    #expect(
      rejection(audio, audio: audio)
        == "\(audio) cannot be combined with the input: the input has no video.")
  }

  @Test("a WAV file with an implausible header is refused")
  func waves() throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", "sine=d=0.1:r=8000", "-fflags", "+bitexact")
    let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func changed(_ position: Int, _ bytes: [UInt8]) -> [UInt8] {
      var wave = good
      wave.replaceSubrange(position..<position + bytes.count, with: bytes)
      return wave
    }
    // Format, channels, rate, bits for each sample and data size are at 20, 22, 24, 34 and 40.
    for bad in [
      changed(22, [0, 0]), changed(22, [0xff, 0xff]), changed(24, [0, 0, 0, 0]), changed(24, [0xff, 0xff, 0xff, 0x7f]),
      changed(20, [0x55, 0xaa]), changed(34, [77, 0]), Array(good.prefix(44)), Array(good.prefix(20)),
    ] {
      #expect(try refused(bad, as: "b.wav") != nil)
    }
    // A live writer's placeholder size, and a size larger than the file, do no harm.
    #expect(try refused(changed(40, [0xff, 0xff, 0xff, 0xff]), as: "b.wav") == nil)
    let cut = try LiveCamera(
      opening: .init(input: .file(scratch.write(Array(good.dropLast(400)), as: "c.wav")), owner: someone))
    #expect(cut.notes == ["It is truncated; the samples that exist are played."])
  }

  @Test("a PNG file that claims to be huge, is truncated or is damaged is refused")
  func videoFrames() throws {
    let path = try scratch.make("a.png", "-f", "lavfi", "-i", "testsrc=s=64x48", "-frames:v", "1")
    let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var bomb = good
    bomb.replaceSubrange(16..<24, with: [0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50])
    #expect(
      try refused(bomb, as: "b.png") == "its frames are 50000x50000, and a side must be 16 to 4096 pixels.")
    for bad in [Array(good.prefix(20)), Array(good.prefix(60)), Array(good.dropLast(200)), bomb] {
      #expect(try refused(bad, as: "b.png") != nil)
    }
    var damaged = good
    damaged[good.count / 2] ^= 0xff
    #expect(try refused(damaged, as: "b.png")?.hasPrefix("its picture cannot be decoded: ") == true)
  }

  @Test("raw frames without a size, or fewer bytes than one frame, are refused")
  func rawVideoFrames() throws {
    func sentence(_ bytes: [UInt8], size: VideoSize?) throws -> String? {
      let path = try scratch.write(bytes, as: "raw")
      let descriptor = Glibc.open(path, O_RDONLY)
      defer { close(descriptor) }
      do {
        let camera = try LiveCamera(
          opening: .init(input: .standardInput, size: size, owner: someone), standardInput: descriptor)
        _ = camera
        return nil
      } catch {
        return error.description
      }
    }
    let size = VideoSize(width: 64, height: 48)
    #expect(
      try sentence([], size: nil)
        == "Standard input cannot be played: it has raw frames, and their size must be given (--size).")
    #expect(
      try sentence([], size: size)
        == "Standard input cannot be played: it ended after 0 bytes, and a frame of 64x48 has 4608.")
    #expect(
      try sentence([UInt8](repeating: 1, count: 4_607), size: size)
        == "Standard input cannot be played: it ended after 4607 bytes, and a frame of 64x48 has 4608.")
    #expect(try sentence([UInt8](repeating: 1, count: 4_608), size: size) == nil)
    #expect(
      try sentence(Array("YUV4MPEG2 W64 H48 F30:1\n".utf8) + [UInt8](repeating: 1, count: 9_000), size: size)
        == "Standard input cannot be played: no frame begins at byte 24.")
  }

  @Test("a malformed Y4M stream from a pipe is refused")
  func pipedY4M() throws {
    func sentence(_ bytes: [UInt8], fps: Double? = nil) throws -> String? {
      let descriptor = Glibc.open(try scratch.write(bytes, as: "piped"), O_RDONLY)
      defer { close(descriptor) }
      do {
        _ = try LiveCamera(opening: .init(input: .standardInput, fps: fps, owner: someone), standardInput: descriptor)
        return nil
      } catch {
        return error.description.replacing("Standard input cannot be played: ", with: "")
      }
    }
    #expect(try sentence(y4m("W64 H48 F30:1")) == nil)
    #expect(try sentence(y4m("W64 H48 F0:0")) == "its frame rate is 0; a rate can be given (--fps).")
    #expect(try sentence(y4m("W64 H48 F0:0"), fps: 10) == nil)
    #expect(try sentence(y4m("H48 F30:1")) == "its Y4M header states no size.")
    #expect(
      try sentence(y4m("W8192 H48 F30:1")) == "its frames are 8192x48, and a side must be 16 to 4096 pixels.")
    #expect(try sentence(Array("YUV4MPEG2 W64 H48".utf8)) == "it ended within its Y4M header.")
    #expect(
      try sentence(Array("YUV4MPEG2 ".utf8) + [UInt8](repeating: 65, count: 100_000))
        == "its Y4M header has no end within 1024 bytes.")
    #expect(
      try sentence(Array("YUV4MPEG2 W64 H48 F30:1\nFRAME".utf8) + [UInt8](repeating: 32, count: 100_000))
        == "the frame's header line at byte 24 has no end.")
    #expect(
      try sentence(Array(y4m("W64 H48 F30:1").dropLast(8)))
        == "it ended after 4600 bytes, and a frame of 64x48 has 4608.")
    #expect(
      try sentence(Array("YUV4MPEG2 W64 H48 F30:1\n".utf8))
        == "it ended after 0 bytes, and a frame of 64x48 has 4608.")
    #expect(try sentence(Array("YUV4".utf8)) == "it has raw frames, and their size must be given (--size).")
  }

  @Test(
    "damaged and truncated files are played or refused, and never crash, hang or exhaust memory",
    arguments: ["a.y4m", "a.ivf", "a.png", "a.wav", "b.webm", "c.webm", "a.opus", "a.ogg", "a.flac"])
  func fuzz(_ name: String) throws {
    let path: String =
      switch name {
      case "a.png": try scratch.make(name, "-f", "lavfi", "-i", "testsrc=s=32x32", "-frames:v", "1")
      case "a.y4m", "a.ivf":
        try scratch.make(name, "-f", "lavfi", "-i", "testsrc=s=32x32:d=0.3:r=10", "-pix_fmt", "yuv420p")
      case "b.webm":
        try scratch.make(
          name, "-f", "lavfi", "-i", "testsrc=s=32x32:d=0.3:r=10", "-f", "lavfi", "-i", "sine=d=0.3", "-c:v",
          "libvpx-vp9")
      case "c.webm":
        try scratch.make(
          name, "-f", "lavfi", "-i", "testsrc=s=32x32:d=0.3:r=10", "-f", "lavfi", "-i", "sine=d=0.3", "-c:v", "libvpx",
          "-c:a", "libvorbis")
      default: try scratch.make(name, "-f", "lavfi", "-i", "sine=d=0.15:r=44100")
      }
    let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var generator = SeededGenerator(seed: 4_711)
    var played = 0
    for round in 0..<60 {
      var bytes = good
      if round.isMultiple(of: 4) {
        bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
      } else {
        // Damage matters most in headers.
        let mutableLength = round.isMultiple(of: 2) ? min(120, bytes.count) : bytes.count
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
          bytes[Int.random(in: 0..<mutableLength, using: &generator)] = .random(in: 0...255, using: &generator)
        }
      }
      let path = try scratch.write(bytes, as: "fuzz-\(name)")
      guard let found = try? InputFile.check(path, rate: nil) else { continue }
      played += 1
      // A file that passed the check can be read to its end, twice; at most it is refused on the way.
      _ = try? found.video?.all(limit: 20)
      if let audio = found.audio {
        let input = try audio.open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
        for _ in 0..<20 where (try? input.read(960).count) == 0 { try? input.rewind() }
      }
    }
    #expect(played < 60)
  }
}
