import Codecs
import Foundation
import LiveSource
import Logging
import Media
import TestSupport
import Testing

@Suite("Frames that cannot be decoded")
struct UndecodableTests {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  /// Writes an IVF file of 20 frames at 10 fps, some of which state a partition size larger than the frame.
  private func film(damaged: Set<Int>) throws -> String {
    let path = try scratch.make(
      "good.ivf", "-f", "lavfi", "-i", "testsrc=s=64x64:d=2:r=10", "-c:v", "libvpx", "-g", "1", "-auto-alt-ref", "0")
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var position = 32
    var number = 0
    while position + 12 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
      // The size of the first partition, which now exceeds the frame (RFC 6386, 9.1).
      if damaged.contains(number) { bytes.replaceSubrange(position + 13...position + 14, with: [0xff, 0xff]) }
      position += 12 + size
      number += 1
    }
    #expect(number == 20)
    return try scratch.write(bytes, as: "damaged.ivf")
  }

  @Test("they are counted over all rounds, with the time of the first, and the previous frame is repeated")
  func counted() throws {
    let path = try film(damaged: [4, 5, 9])
    let checked = try #require(try InputFile.check(path, rate: nil).video)
    let input = try checked.open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
    var videoFrames: [[UInt8]] = []
    while try input.peek() != nil {
      try input.advance()
      videoFrames.append(try input.videoFrame().bytes)
    }
    #expect(videoFrames.count == 20)
    let stands = videoFrames[5] == videoFrames[3] && videoFrames[6] != videoFrames[5]
    #expect(stands)
    #expect(input.undecodable.count == 3)
    #expect(input.undecodable.first?.time == Int64(288_000))
    try input.rewind()
    while try input.peek() != nil { try input.advance() }
    #expect(input.undecodable.count == 6)
    #expect(input.undecodable.first?.time == Int64(288_000))
  }

  @Test("undecodable audio packets are counted too, and replaced by silence")
  func audio() throws {
    // Audio in WebM has no checksum, so a packet can be damaged.
    let path = try scratch.make("good.webm", "-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "libvorbis", "-ac", "1")
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let packets = packets(of: bytes)
    #expect(packets.count > 20)
    // An audio packet of Vorbis begins with a 0 bit (Vorbis I, 4.3.1).
    for packet in packets[10..<13] { bytes[packet] |= 1 }
    let damaged = try scratch.write(bytes, as: "damaged.webm")
    let checked = try #require(try InputFile.check(damaged, rate: nil).audio)
    let input = try checked.open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
    let samples = try input.read(48_000).samples
    #expect(input.undecodable.count == 3)
    let first = try #require(input.undecodable.first)
    let seconds = Double(first.time) / 720_000
    #expect(seconds > 0.05 && seconds < 0.9)
    #expect(first.reason.contains("Vorbis"))
    let start = Int(seconds * 48_000)
    let silent = samples[start..<min(samples.count, start + 9_600)].count { $0 == 0 }
    #expect(silent > 900)
  }

  /// Returns where the packets of a WebM file with one track begin: after 0xa3, the size, the track number, the time
  /// and the flags (RFC 9559, 10.2).
  private func packets(of bytes: [UInt8]) -> [Int] {
    bytes.indices.dropLast(10).compactMap { index in
      guard bytes[index] == 0xa3 else { return nil }
      let size = bytes[index + 1]
      let start = size & 0x80 != 0 ? index + 2 : size & 0xc0 == 0x40 ? index + 3 : index
      let isBlock = start > index && bytes[start] == 0x81 && bytes[start + 1] < 8 && bytes[start + 3] & 0x7f == 0
      return isBlock ? start + 4 : nil
    }
  }

  @Test("the first is logged at once with its file, time and reason, and the total at the end")
  func notice() {
    let recorder = LogRecorder()
    var notice = UndecodableReport(.video, of: "a.ivf", logger: recorder.logger)
    var undecodable = Undecodable()
    notice.report(undecodable)
    notice.end(with: undecodable)
    #expect(recorder.lines == [])
    for second in [83, 84, 85] {
      undecodable.add(at: Int64(second) * 720_000 + 720 * 7, reason: "decoding failed: a bad bit")
      notice.report(undecodable)
    }
    notice.end(with: undecodable)
    #expect(
      recorder.lines == [
        "A frame cannot be decoded and is skipped; the previous frame is repeated. "
          + "file=a.ivf reason=decoding failed: a bad bit time=83.007 s",
        "3 frames could not be decoded and were skipped. file=a.ivf",
      ])
  }

  @Test("a camera logs the first one while it plays, and the total when it ends")
  func played() async throws {
    let path = try film(damaged: [2, 3])
    let recorder = LogRecorder()
    let camera = try LiveCamera(
      opening: .init(input: .file(path), loops: false, live: true, owner: someone), logger: recorder.logger)
    var frames = 0
    for await _ in await camera.frames() { frames += 1 }
    #expect(frames > 10)
    #expect(recorder.lines.count == 2)
    #expect(recorder.lines.first?.contains("file=\(path)") == true)
    #expect(recorder.lines.first?.hasSuffix("time=0.200 s") == true)
    #expect(recorder.lines.last == "2 frames could not be decoded and were skipped. file=\(path)")
  }
}
