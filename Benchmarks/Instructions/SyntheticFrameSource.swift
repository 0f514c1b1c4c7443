import Media
import NIOCore

/// 30 video frames a second, one keyframe a second, and 50 audio packets: about 1 Mb/s of random payload. The frames of each codec have
/// the same sizes, apart from what frames the units of a bitstream.
struct SyntheticFrameSource {
  private static let stock: [UInt8] = {
    var generator = SplitMix64(seed: 77)
    return (0..<32_768).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }()

  private let video: SyntheticVideo
  private var generator: SplitMix64
  private var start: MonotonicInstant
  private var videoFrames: Int64 = 0
  private var audioFrames: Int64 = 0

  init(_ video: SyntheticVideo, seed: UInt64, start: MonotonicInstant) {
    self.video = video
    generator = SplitMix64(seed: seed)
    self.start = start
  }

  mutating func restart(at now: MonotonicInstant) { start = now }

  /// Returns the next frame that is due.
  mutating func next(now: MonotonicInstant) -> EncodedFrame? {
    if start + .milliseconds(20 * audioFrames) <= now { return audioFrame() }
    return start + .nanoseconds(videoFrames * 1_000_000_000 / 30) <= now ? videoFrame() : nil
  }

  private mutating func videoFrame() -> EncodedFrame {
    defer { videoFrames += 1 }
    let number = Int(videoFrames % 30)
    let isKeyframe = number == 0
    // The bytes of a frame of VP8: its header, and random ones.
    let size = isKeyframe ? 16_010 : 3 + Int.random(in: 2_000...4_500, using: &generator)
    let position = Int.random(in: 0...Self.stock.count - size, using: &generator)
    return EncodedFrame(
      owner: Self.owner, codec: video.codec, time: MediaTime(ticks: videoFrames * 3_000, rate: 90_000),
      payload: video.frame(number, size: size, content: Self.stock[position...]),
      isKeyframe: isKeyframe, size: isKeyframe ? VideoSize(width: 640, height: 480) : nil,
      arrival: (start + .nanoseconds(videoFrames * 1_000_000_000 / 30)).instant)
  }

  private mutating func audioFrame() -> EncodedFrame {
    defer { audioFrames += 1 }
    // RFC 6716, 3.1: CELT, fullband, 20 ms, mono, one frame.
    var payload = ByteBuffer(bytes: [0xF8])
    fill(&payload, count: 159)
    return EncodedFrame(
      owner: Self.owner, codec: .opus, time: MediaTime(ticks: audioFrames * 960, rate: 48_000), payload: payload,
      isKeyframe: true, arrival: (start + .milliseconds(audioFrames * 20)).instant)
  }

  private static let owner = ParticipantID("source")

  private mutating func fill(_ payload: inout ByteBuffer, count: Int) {
    let position = Int.random(in: 0...Self.stock.count - count, using: &generator)
    payload.writeBytes(Self.stock[position..<position + count])
  }
}
