import Media
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Reordered and duplicated packets in a session")
struct ReorderingTests {
  /// A frame without its arrival time, for comparison.
  private struct Content: Hashable {
    var frame: EncodedFrame

    init(_ frame: EncodedFrame, at instant: MonotonicInstant) {
      self.frame = frame
      self.frame.arrived = instant
    }
  }

  private var withoutNack: Negotiated {
    var media = Negotiated()
    media.nack = false
    return media
  }

  private func contents(_ tape: RecordedPackets, _ codec: Codec, media: Negotiated) -> (
    frames: [Content], counts: TrackStatistics?
  ) {
    var listener = Listener(media: media)
    tape.play(to: &listener)
    let instant = MonotonicInstant.now
    return (listener.frames(codec).map { Content($0, at: instant) }, listener.session.receiveStatistics[codec.kind])
  }

  private func expectNoDifference(
    _ tape: RecordedPackets, depth: Int, codec: Codec, media: Negotiated, seed: UInt64, count: Int
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let mixed = tape.reordered(depth: depth, using: &generator).doubled(0.05, depth: depth, using: &generator)
    let clean = contents(tape, codec, media: media)
    let wild = contents(mixed, codec, media: media)
    let instant = MonotonicInstant.now
    let frames = wild.frames.map { Content($0.frame, at: instant) }
    expectSame(frames, clean.frames.map { Content($0.frame, at: instant) }, "seed \(seed)")
    #expect(frames.count == count)
    expectAll(frames) { $0.frame.gap == nil }
    let counts = try #require(wild.counts)
    #expect(counts.packetsReceived == UInt64(tape.entries.count))
    #expect(counts.packetsExpected == UInt64(tape.entries.count))
    #expect(counts.packetsDuplicated == UInt64(mixed.entries.count - tape.entries.count))
    #expect(counts.packetsLost == 0 && counts.packetsLate == 0)
    let steps = zip(frames, frames.dropFirst()).map { $1.frame.time.ticks - $0.frame.time.ticks }
    #expect(steps.allSatisfy { $0 == (codec == .vp8 ? 3_000 : 960) })
    print(
      "measured: \(codec.rawValue) reordered by up to \(depth) packets, seed \(seed): \(mixed.entries.count) packets received for",
      "\(tape.entries.count), \(counts.packetsRequested) requested unnecessarily, \(frames.count) of \(count) frames the same"
    )
  }

  @Test(
    "audio reordered by up to 15 packets and with 5 % duplicates is delivered like the original",
    arguments: 1...8 as ClosedRange<UInt64>)
  func audio(seed: UInt64) throws {
    // For half of the seeds, the sequence number and the timestamp wrap within the reordered packets.
    let maker: PacketMaker = seed % 2 == 0 ? .audio() : .audio(sequence: 65_500, timestamp: .max - 60 * 960)
    try expectNoDifference(
      .audio(150, maker: maker), depth: 15, codec: .opus, media: withoutNack, seed: seed, count: 150)
  }

  @Test(
    "video reordered by up to 30 packets and with 5 % duplicates is delivered like the original",
    arguments: 1...8 as ClosedRange<UInt64>)
  func video(seed: UInt64) throws {
    let maker: PacketMaker = seed % 2 == 0 ? .video() : .video(sequence: 65_300, timestamp: .max - 40 * 3_000)
    // With ten packets a frame, 30 positions are 100 ms: packets that are missing meanwhile are requested.
    try expectNoDifference(
      .video(80, packets: 10, maker: maker), depth: 30, codec: .vp8, media: Negotiated(), seed: seed, count: 80)
    // With three packets a frame, they are a third of a second.
    try expectNoDifference(
      .video(80, packets: 3, maker: maker), depth: 30, codec: .vp8, media: withoutNack, seed: seed, count: 80)
  }
}
