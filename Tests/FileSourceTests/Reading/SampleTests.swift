import FileSource
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("samples/test.webm")
struct SampleTests {
  let file: MediaFile

  init() throws {
    file = try MediaFile(opening: Sample.path)
  }

  @Test("it has ten seconds of VP8 at 30 fps and of Opus, and loops after exactly ten")
  func contents() throws {
    #expect(file.tracks.map(\.codec) == [.vp8, .opus])
    #expect(file.duration == .seconds(10))
    #expect(file.track(.video)?.frames == 300)
    #expect(file.track(.video)?.keyframes == 10)
    #expect(file.track(.video)?.size == VideoSize(width: 640, height: 480))
    #expect(file.track(.audio)?.frames == 500)
    #expect(file.track(.audio)?.channels == 1)
    #expect(file.notes.isEmpty)
    #expect(
      file.summary == "\(Sample.path): 10.00 s, VP8 640x480, 300 frames in 10.00 s; Opus mono, 500 packets in 10.00 s")
  }

  @Test("it is smaller than 2 MB")
  func size() throws {
    #expect(try Sample.bytes().count < 2_000_000)
  }

  @Test(
    "its frames are even to the tick although the file rounds to milliseconds, and the audio begins 6.5 ms earlier")
  func times() throws {
    #expect(try file.ticks(.video) == (0..<300).map { 585 + $0 * 3000 })
    #expect(try file.ticks(.audio) == (0..<500).map { $0 * 960 })
  }

  @Test("it has a keyframe on each full second")
  func keyframes() throws {
    let keyframes = try file.frames(.video).enumerated().filter(\.element.isKeyframe).map(\.offset)
    #expect(keyframes == Array(stride(from: 0, to: 300, by: 30)))
  }

  @Test("decoded by ffmpeg, each beep begins within a millisecond of its flash")
  func beepAndFlash() throws {
    let folder = try ScratchFolder()
    let audio = folder.path("sound.s16")
    try Sample.make(audio, "-i", Sample.path, "-map", "0:a", "-f", "s16le", "-ar", "48000")
    let light = folder.path("light.gray")
    try Sample.make(
      light, "-i", Sample.path, "-map", "0:v", "-vf", "crop=200:60:200:330,scale=1:1,format=gray", "-f", "rawvideo")

    let samples = try Data(contentsOf: URL(fileURLWithPath: audio)).withUnsafeBytes {
      $0.bindMemory(to: Int16.self).map { abs(Int($0)) }
    }
    var beeps: [Double] = []
    var lastLoud = -48_000
    for (index, sample) in samples.enumerated() where sample > 4000 {
      if index - lastLoud > 4800 { beeps.append(Double(index) / 48) }
      lastLoud = index
    }
    let pixels = [UInt8](try Data(contentsOf: URL(fileURLWithPath: light)))
    let flashes = pixels.indices.filter { pixels[$0] > 128 && ($0 == 0 || pixels[$0 - 1] <= 128) }

    #expect(flashes == Array(stride(from: 0, to: 300, by: 30)))
    #expect(beeps.count == 10)
    for (beep, flash) in zip(beeps, flashes) { #expect(abs(beep - Double(flash) * 1000 / 30) < 1) }
  }

  @Test("each frame has the size that ffprobe reports")
  func payloads() throws {
    for (kind, selector) in [(MediaKind.video, "v"), (.audio, "a")] {
      let result = try ExternalTool.run(
        "ffprobe",
        ["-v", "error", "-select_streams", selector, "-show_entries", "packet=size", "-of", "csv=p=0", Sample.path])
      let sizes = result.output.split(whereSeparator: \.isNewline).compactMap { Int($0.prefix { $0.isNumber }) }
      #expect(try file.frames(kind).map(\.payload.readableBytes) == sizes)
    }
  }
}
