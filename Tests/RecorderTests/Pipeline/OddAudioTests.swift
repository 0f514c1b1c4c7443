import Codecs
import Media
import NIOCore
import Recorder
import Testing

@Suite("Unusual audio")
struct OddAudioTests {
  private func record(_ packets: [(ticks: Int64, payload: ByteBuffer)]) throws
    -> (track: RecordingManifest.Track, timestamped: [TimestampedFrame])
  {
    let pipeline = FramePipeline(alignmentDelay: .seconds(3), verification: VerificationPool(threads: 0))
    var timestamped: [TimestampedFrame] = []
    for packet in packets {
      let arrival = Script.beginning + .seconds(Double(packet.ticks) / 48_000)
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: packet.ticks, rate: 48_000),
            payload: packet.payload, isKeyframe: true, arrival: arrival)), now: arrival)
      timestamped += pipeline.release(now: arrival)
    }
    timestamped += pipeline.release(now: Script.beginning + .seconds(100), everything: true)
    let clock = WallClock(moment: Script.beginning, secondsSince1970: 0)
    return (try #require(pipeline.tracks(clock: clock).first), timestamped)
  }

  @Test("packets of 2.5 to 120 ms have the right lengths and positions", arguments: OpusEncoder.packetLengths)
  func lengths(ticks: Int) throws {
    let pieces = try SpeechSamples.packets(3, ticks: ticks, correctsErrors: false)
    let result = try record(pieces.map { ($0.ticks, $0.payload) })
    #expect(abs(result.track.duration - Double(pieces.count * ticks) / 48_000) < 0.000_6)
    #expect(result.track.timestampBreaks == 0 && result.track.gaps.isEmpty && result.track.decodeErrors == 0)
    #expect(result.timestamped.map(\.position.opusTicks) == pieces.map(\.ticks))
  }

  @Test("empty packets are rejected and counted, and no other packet is lost")
  func empty() throws {
    var pieces = try SpeechSamples.packets(2, correctsErrors: false)
    for index in [0, 10, 11, 50] { pieces[index].payload.clear() }
    let result = try record(pieces.map { ($0.ticks, $0.payload) })
    #expect(result.track.refused == 4 && result.track.frames == 96 && result.track.duration == 1.98)
    #expect(
      result.track.gaps == [
        .init(reason: "lost", start: 0.18, duration: 0.04, packets: 0, frames: 2),
        .init(reason: "lost", start: 0.98, duration: 0.02, packets: 0, frames: 1),
      ])
  }

  @Test("packets of one byte are silence of the packet's length")
  func oneByte() throws {
    var pieces = try SpeechSamples.packets(2, correctsErrors: false)
    for index in 40..<60 {
      pieces[index].payload = ByteBuffer(bytes: [pieces[index].payload.getInteger(at: 0) ?? 0])
    }
    let result = try record(pieces.map { ($0.ticks, $0.payload) })
    #expect(result.track.frames == 100 && result.track.duration == 2 && result.track.decodeErrors == 0)
    #expect(result.track.gaps.isEmpty)
  }

  @Test("alternating mono and stereo packets make one stereo stream")
  func channels() throws {
    let one = try SpeechSamples.packets(2, correctsErrors: false)
    let two = try SpeechSamples.packets(2, channels: 2, correctsErrors: false, bitrate: 96_000)
    let mixed = one.indices.map { ($0 / 25).isMultiple(of: 2) ? one[$0] : two[$0] }
    let result = try record(mixed.map { ($0.ticks, $0.payload) })
    #expect(result.track.channels == 2 && result.track.duration == 2 && result.track.decodeErrors == 0)
  }

  @Test("positions stay right when the length changes from packet to packet")
  func mixedLengths() throws {
    var ticks: Int64 = 0
    var packets: [(ticks: Int64, payload: ByteBuffer)] = []
    for _ in 0..<20 {
      for length in [120, 5_760, 960, 2_880, 480] {
        let all = try SpeechSamples.packets(Double(length) / 48_000, ticks: length, correctsErrors: false)
        guard let first = all.first else { continue }
        packets.append((ticks, first.payload))
        ticks += Int64(length)
      }
    }
    let result = try record(packets)
    #expect(result.timestamped.map(\.position.opusTicks) == packets.map(\.ticks))
    #expect(result.track.timestampBreaks == 0)
  }
}
