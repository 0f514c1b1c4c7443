import Foundation
import MediaMessages
import MediaWorker
import TestSupport
import Testing

@Suite("Encoding of compositions")
struct CompositionEncodingTests {
  private static let video: [TrackCodec] = [.h264, .vp8, .vp9, .av1]

  @Test("each frame gives a packet, in an order that can be decoded, and a keyframe comes every 2 s", arguments: video)
  func packets(codec: TrackCodec) throws {
    let (packets, _) = try MadeMedia.video(try MadeMedia.settings(codec), frames: 600..<780)
    #expect(packets.map(\.pts).sorted() == Array(600..<780))
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.dts < $1.dts })
    #expect(packets.allSatisfy { $0.dts <= $0.pts && $0.duration == 1 })
    let keyframes = packets.filter(\.isKeyframe).map(\.pts)
    #expect(keyframes.first == 600)
    #expect(zip(keyframes, keyframes.dropFirst()).allSatisfy { $1 - $0 <= 60 })
    #expect(keyframes.count >= 3)
  }

  @Test("the same frames give the same bytes, and the private data follows from the settings", arguments: video)
  func deterministic(codec: TrackCodec) throws {
    let settings = try MadeMedia.settings(codec, width: 640, height: 360)
    let (first, second) = (try MadeMedia.video(settings), try MadeMedia.video(settings))
    #expect(first.packets == second.packets)
    #expect(first.track == second.track)
  }

  @Test("parts follow each other: the times of decoding of one begin behind those of the last")
  func parts() throws {
    let settings = try MadeMedia.settings(.h264)
    let (first, second) = (
      try MadeMedia.video(settings, frames: 0..<90), try MadeMedia.video(settings, frames: 90..<180)
    )
    let times = (first.packets + second.packets).map(\.dts)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    #expect(first.track.privateData == second.track.privateData)
    // B-frames.
    #expect(first.packets.contains { $0.pts < $0.dts + 2 })
    #expect(first.packets.map(\.pts) != first.packets.map(\.pts).sorted())
  }

  @Test("decoded, the frames are those that were given, at their places", arguments: video)
  func pixels(codec: TrackCodec) throws {
    let folder = try TemporaryFolder()
    let settings = try MadeMedia.settings(codec, quality: 9)
    let (packets, track) = try MadeMedia.video(settings)
    let file = folder.file("video.mkv")
    try MadeMedia.write(ContainerSettings(format: .mkv, tracks: [track]), [packets], to: file)
    let raw = folder.file("video.yuv")
    let result = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vsync", "0", "-y", raw])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let decoded = try Data(contentsOf: URL(fileURLWithPath: raw))
    try #require(decoded.count == 90 * settings.frameBytes)
    var expected = [UInt8](repeating: 0, count: settings.frameBytes)
    for number in [0, 1, 30, 31, 89] {
      expected.withUnsafeMutableBytes {
        MadeMedia.paint(Int64(number), width: settings.width, height: settings.height, into: $0)
      }
      let frame = decoded[
        decoded.startIndex + number * settings.frameBytes..<decoded.startIndex + (number + 1) * settings.frameBytes]
      let errors = zip(frame, expected).map { Double(Int($0) - Int($1)) }
      let ratio = 10 * log10(255 * 255 / (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count) + 1e-9))
      #expect(ratio > 30, "frame \(number): \(ratio) dB")
    }
  }

  @Test("a higher quality takes more bytes, and the maximum bitrate is kept", arguments: video)
  func quality(codec: TrackCodec) throws {
    func bytes(_ quality: Int, _ maximum: Int? = nil) throws -> Int {
      let settings = try MadeMedia.settings(codec, width: 640, height: 360, quality: quality, maximumBitrate: maximum)
      return try MadeMedia.video(settings).packets.reduce(0) { $0 + $1.bytes.count }
    }
    let (low, high) = (try bytes(2), try bytes(9))
    #expect(low < high)
    // 3 s of 200 kb/s, and the buffer of 2 s.
    #expect(try bytes(9, 200_000) < 5 * 200_000 / 8 * 13 / 10)
  }

  @Test(
    "sound has a packet for each frame, begins before its zero by the delay, and ends with its last sample",
    arguments: SoundEncoderSettings.codecs)
  func sound(codec: TrackCodec) throws {
    for samples in [144_000, 144_001, 1] {
      let (packets, track) = try MadeMedia.sound(codec, samples: samples)
      #expect(packets.first?.pts == -Int64(track.delay))
      #expect(packets.allSatisfy { $0.duration > 0 && $0.duration <= Int64(track.frame) })
      for (packet, next) in zip(packets, packets.dropFirst()) { #expect(packet.pts + packet.duration == next.pts) }
      let last = try #require(packets.last)
      let end = last.pts + Int64(track.frame) - Int64(last.skipAtEnd)
      #expect(end == Int64(samples), "\(samples)")
    }
  }

  @Test("sound that comes in pieces gives the same bytes", arguments: SoundEncoderSettings.codecs)
  func pieces(codec: TrackCodec) throws {
    let samples = MadeMedia.tone(samples: 50_000)
    let encoder = try SoundEncoder(try #require(SoundEncoderSettings(codec: codec)))
    var packets: [EncodedPacket] = []
    var start = 0
    for size in [1, 479, 4_800, 30_001, 14_719] {
      packets += try encoder.encode(Array(samples[2 * start..<2 * (start + size)]))
      start += size
    }
    #expect(start == 50_000)
    packets += try encoder.finish()
    let whole = try SoundEncoder(try #require(SoundEncoderSettings(codec: codec)))
    var expected = try whole.encode(samples)
    expected += try whole.finish()
    #expect(packets == expected)
  }

  @Test("settings outside of the limits are none")
  func limits() {
    func settings(_ codec: TrackCodec, _ width: Int, _ height: Int, _ quality: Int) -> CompositionEncoderSettings? {
      CompositionEncoderSettings(
        codec: codec, width: width, height: height, numerator: 30, quality: quality, keyframeDistance: 60)
    }
    #expect(settings(.h264, 3_840, 2_160, 10) != nil)
    #expect(settings(.h264, 4_096, 2_160, 10) == nil)
    #expect(settings(.h264, 639, 480, 6) == nil)
    #expect(settings(.opus, 640, 480, 6) == nil)
    #expect(settings(.h264, 640, 480, 0) == nil)
    #expect(SoundEncoderSettings(codec: .h264) == nil)
  }

  @Test("frames of the largest size are encoded")
  func large() throws {
    let settings = try MadeMedia.settings(.h264, width: 3_840, height: 2_160, quality: 10)
    let encoder = try CompositionEncoder(settings)
    var packets: [EncodedPacket] = []
    for number in 0..<8 as Range<Int64> {
      packets += try encoder.encode(frame: number) { memory in
        for index in 0..<memory.count { memory[index] = UInt8(truncatingIfNeeded: (index &* 2_654_435_761) >> 13) }
      }
    }
    packets += try encoder.finish()
    #expect(packets.count == 8)
  }

  @Test("an encoder whose process ends says so")
  func killed() throws {
    let settings = try MadeMedia.settings(.h264)
    let encoder = try CompositionEncoder(settings)
    _ = try encoder.encode(frame: 0) { _ in }
    kill(try #require(encoder.id), SIGKILL)
    #expect(throws: MediaWorkerError.self) {
      for number in 1..<100 as Range<Int64> { _ = try encoder.encode(frame: number) { _ in } }
    }
  }
}
