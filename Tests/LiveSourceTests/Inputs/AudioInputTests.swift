import Codecs
import FileSource
import Foundation
import Media
import TestSupport
import Testing

@testable import LiveSource

@Suite("Audio of files, compared with ffmpeg")
struct AudioInputTests {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  func audio(_ path: String) throws -> CheckedAudio {
    try #require(try InputFile.check(path, rate: nil).audio)
  }

  /// A chord that differs between left and right.
  static let chord = "aevalsrc=0.4*sin(440*2*PI*t)+0.2*sin(1500*2*PI*t)|0.5*sin(660*2*PI*t):s=48000:d=0.5"

  @Test(
    "a WAV file is decoded exactly in every sample format",
    arguments: ["pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le", "pcm_mulaw", "pcm_alaw"])
  func wave(_ codec: String) throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", Self.chord, "-c:a", codec)
    let checked = try audio(path)
    #expect(checked.channels == 2)
    #expect(checked.extent == .range(0..<360_000))
    let mine = try checked.all()
    let wanted = floats(try scratch.judge(path, "-f", "f32le"))
    #expect(mine.count == wanted.count)
    let isEqual = mine == wanted
    #expect(isEqual)
  }

  @Test(
    "a WAV file whose writer could not state its length is played to its end",
    arguments: [
      (UInt32.max, UInt32.max), (0, UInt32.max), (0, 0), (8, 0), (UInt32.max, 0), (96_000, 0),
    ] as [(UInt32, UInt32)])
  func streamed(riffSize: UInt32, dataSize: UInt32) throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", Self.chord, "-c:a", "pcm_s16le")
    let wanted = try audio(path).all()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let size = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
    for (position, value) in [(4, riffSize), (size, dataSize)] {
      for offset in 0..<4 { bytes[position + offset] = UInt8(truncatingIfNeeded: value >> (8 * offset)) }
    }
    let checked = try audio(try scratch.write(bytes, as: "streamed.wav"))
    let isEqual = try checked.all() == wanted
    #expect(isEqual && checked.extent == .range(0..<360_000))
    #expect(
      checked.notes == (dataSize == 0 ? ["Its header states no length; it is played to the end of the file."] : []))
  }

  @Test("a WAV file that is cut off is played to its last whole sample")
  func cutOff() throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", Self.chord, "-c:a", "pcm_s24le")
    let wanted = try audio(path).all()
    // A sample of both channels has 6 bytes.
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))).dropLast(601)
    let checked = try audio(try scratch.write(Array(bytes), as: "cut.wav"))
    let mine = try checked.all()
    let isEqual = mine == Array(wanted.dropLast(202))
    #expect(isEqual && checked.extent == .range(0..<360_000 - 101 * 15))
    #expect(checked.notes == ["It is truncated; the samples that exist are played."])
  }

  @Test("a WAV file whose numbers begin with the high byte (RIFX) sounds like one of RIFF")
  func highByteFirst() throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", Self.chord, "-c:a", "pcm_s16le")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound + 4
    let format: [UInt8] = [0, 1, 0, 2, 0, 0, 0xbb, 0x80, 0, 2, 0xee, 0, 0, 4, 0, 16]
    let samples = stride(from: data, to: bytes.count - 1, by: 2).flatMap { [bytes[$0 + 1], bytes[$0]] }
    func size(_ count: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }
    let turned =
      Array("RIFX".utf8) + size(36 + samples.count) + Array("WAVEfmt ".utf8) + size(16) + format + Array("data".utf8)
      + size(samples.count) + samples
    let isEqual = try audio(try scratch.write(turned, as: "turned.wav")).all() == audio(path).all()
    #expect(isEqual)
  }

  @Test(
    "WAV in its other forms is decoded",
    arguments: [
      ("a.w64", ["-c:a", "pcm_s16le"]), ("a.wav", ["-c:a", "pcm_s16le", "-rf64", "always"]),
      ("a.wav", ["-c:a", "adpcm_ms"]), ("a.wav", ["-c:a", "adpcm_ima_wav"]), ("a.wav", ["-c:a", "libmp3lame"]),
    ])
  func otherForms(_ name: String, _ arguments: [String]) throws {
    let path = scratch.path(name)
    let made = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", Self.chord] + arguments + [path])
    try #require(made.status == 0, "\(made.errors)")
    let mine = try audio(path).all()
    let wanted = floats(try scratch.judge(path, "-f", "f32le"))
    let likeness = signalToNoise(mine, wanted)
    #expect(abs(mine.count - wanted.count) <= 2 * 1_152, "\(mine.count) \(wanted.count)")
    #expect(likeness > 30, "measured: \(likeness) dB")
  }

  @Test("a WAV file whose samples are truly none is refused, although chunks follow")
  func noSamples() throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", Self.chord, "-c:a", "pcm_s16le")
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
    var empty = Array(bytes[..<data])
    empty += [0, 0, 0, 0]
    empty += Array("LIST".utf8)
    empty += [4, 0, 0, 0]
    empty += Array("INFO".utf8)
    #expect(rejection(try scratch.write(empty, as: "empty.wav")) == "it has no audio.")
  }

  @Test("a FLAC file whose writer could not state its length is played to its end")
  func streamedFLAC() throws {
    let path = try scratch.make("a.flac", "-f", "lavfi", "-i", Self.chord)
    let wanted = try audio(path).all()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // STREAMINFO follows the signature and a block header; its last 36 bits before the digest are the number of samples.
    bytes[21] &= 0xF0
    for position in 22..<26 { bytes[position] = 0 }
    let isEqual = try audio(try scratch.write(bytes, as: "streamed.flac")).all() == wanted
    #expect(isEqual)
  }

  @Test(
    "a WAV file of any rate is resampled to 48 kHz with its length kept and no delay",
    arguments: [8_000, 11_025, 22_050, 32_000, 44_100, 96_000, 192_000])
  func rates(_ rate: Int) throws {
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", "sine=f=1000:r=\(rate):d=0.8", "-c:a", "pcm_s24le")
    let mine = try audio(path).all()
    #expect(mine.count == 38_400)
    // Compared with the sine itself, except at the edges, where any filter rings. ffmpeg's sine has an amplitude of
    // 1/8.
    let wanted = (0..<38_400).map { (tick: Int) -> Float in
      let angle = 1_000 * 2 * Double.pi * Double(tick) / 48_000
      return Float(0.125 * sin(angle))
    }
    let likeness = signalToNoise(Array(mine[2_000..<36_000]), Array(wanted[2_000..<36_000]))
    #expect(likeness > 60, "measured: \(likeness) dB")
  }

  @Test(
    "Opus in Ogg and WebM is decoded as by libopus, without the pre-skip",
    arguments: ["a.opus", "a.webm"])
  func opus(_ name: String) throws {
    let path = try scratch.make(name, "-f", "lavfi", "-i", Self.chord, "-c:a", "libopus", "-b:a", "96k")
    let checked = try audio(path)
    let mine = try checked.all()
    let wanted = floats(try scratch.judge(path, "-f", "f32le", "-c:a", "pcm_f32le"))
    let likeness = signalToNoise(mine, wanted)
    #expect(mine.count >= wanted.count && mine.count - wanted.count <= 2 * 960, "\(mine.count) \(wanted.count)")
    #expect(likeness > 40, "measured: \(likeness) dB")
  }

  @Test(
    "Vorbis in Ogg and WebM, and FLAC, are decoded",
    arguments: [("a.ogg", "libvorbis"), ("a.webm", "libvorbis"), ("a.flac", "flac")])
  func vorbis(_ name: String, _ codec: String) throws {
    let path = try scratch.make(name, "-f", "lavfi", "-i", Self.chord, "-c:a", codec)
    let mine = try audio(path).all()
    let wanted = floats(try scratch.judge(path, "-f", "f32le", "-c:a", "pcm_f32le"))
    let likeness = signalToNoise(mine, wanted)
    #expect(abs(mine.count - wanted.count) <= 2 * 1_100, "\(mine.count) \(wanted.count)")
    #expect(likeness > 30, "measured: \(likeness) dB")
  }

  @Test("six channels are mixed to two without clipping")
  func surround() throws {
    let tones = (1...6).map { "sin(\($0 * 200)*2*PI*t)" }.joined(separator: "|")
    let path = try scratch.make("a.wav", "-f", "lavfi", "-i", "aevalsrc=\(tones):s=48000:d=0.2:c=5.1")
    let checked = try audio(path)
    #expect(checked.channels == 2)
    let mine = try checked.all()
    let loudest = mine.map(abs).max() ?? 0
    #expect(mine.count == 19_200 && loudest <= 1 && loudest > 0.6)
  }

  @Test("NaN samples become silence, and samples beyond full scale are clamped")
  func insane() throws {
    let path = try scratch.make(
      "a.wav", "-f", "lavfi", "-i", "aevalsrc=0.5:s=48000:d=0.1", "-c:a", "pcm_f32le", "-fflags", "+bitexact")
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let start = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound + 4
    for (index, sample) in [Float.nan, .infinity, -.infinity, 0.5, 7].enumerated() {
      for offset in 0..<4 {
        bytes[start + 4 * index + offset] = UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * UInt32(offset)))
      }
    }
    let mine = try audio(try scratch.write(bytes, as: "insane.wav")).all()
    #expect(mine.prefix(6) == [0, 1, -1, 0.5, 1, 0.5])
  }

  @Test("a second round is identical to the first")
  func rewinding() throws {
    for (name, codec) in [
      ("a.wav", "pcm_s16le"), ("a.opus", "libopus"), ("b.webm", "libvorbis"), ("a.ogg", "libvorbis"),
    ] {
      let path = try scratch.make(
        name, "-f", "lavfi", "-i", "sine=f=700:r=44100:d=0.4", "-c:a", codec)
      let input = try audio(path).open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
      let once = try input.read(9_000)
      try input.rewind()
      let again = try input.read(9_000)
      let isEqual = once == again
      #expect(isEqual && once.count == 9_000, "\(name)")
    }
  }
}
