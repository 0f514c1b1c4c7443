import Foundation
import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Copies of audio (RED), between two sessions")
struct RedundancyTests {
  /// Adds copies of the packets before to each packet of audio on its way, as libwebrtc does.
  private final class Encoder {
    private let copies: Int
    private var before: [RTPPacket] = []

    init(copies: Int) {
      self.copies = copies
    }

    func encode(_ packet: RTPPacket) -> RTPPacket {
      guard packet.ssrc == Negotiated.aliceAudio else { return packet }
      var encoded = packet
      let audio = RedundantAudio(
        copies: before.suffix(copies).map {
          .init(payloadType: $0.payloadType, offset: packet.timestamp &- $0.timestamp, payload: $0.payload)
        }, payloadType: packet.payloadType, payload: packet.payload)
      encoded.payloadType = 63
      encoded.payload = ByteBuffer()
      audio.write(into: &encoded.payload)
      if before.last.map({ Int16(bitPattern: packet.sequenceNumber &- $0.sequenceNumber) > 0 }) ?? true {
        before = before.suffix(copies) + [packet]
      }
      return encoded
    }
  }

  private static func call(
    seed: UInt64, copies: Int, loss: Double, nack: Bool = false, reordering: Duration = .zero
  ) -> SessionCall {
    var media = Negotiated()
    media.redundancyPayloadType = 63
    media.audioNack = nack
    var conditions = Impairment.Conditions(delay: .milliseconds(25))
    conditions.loss = loss
    conditions.jitter = reordering
    conditions.reorder = reordering > .zero ? 0.1 : 0
    var call = SessionCall(seed: seed, toBob: conditions, toAlice: .init(delay: .milliseconds(25)), media: media)
    call.source?.sendsVideo = false
    if copies > 0 { call.rewrite = Encoder(copies: copies).encode }
    return call
  }

  private static func numbers(_ call: SessionCall) throws -> [Int] {
    let sent = call.played.filter { $0.codec == .opus }
    let received = call.bob.frames(.opus)
    let origin = try #require(received.first)
    let first = try #require(SyntheticSource.number(of: origin))
    return try received.map { frame in
      let number = try #require(SyntheticSource.number(of: frame))
      #expect(frame.payload == sent[number].payload)
      #expect(frame.time.ticks - origin.time.ticks == Int64(number - first) * 960)
      return number
    }
  }

  @Test(
    "at 20 % loss without retransmission, one copy leaves at most a quarter of the loss",
    arguments: [1, 2, 3] as [UInt64])
  func loss(seed: UInt64) throws {
    var missing: [Int] = []
    for copies in 0...2 {
      var call = Self.call(seed: seed, copies: copies, loss: 0.2)
      call.run(for: .seconds(120))
      call.toBob.conditions.loss = 0
      call.run(for: .seconds(1))
      call.settle()
      let sent = call.played.count { $0.codec == .opus }
      let numbers = try Self.numbers(call)
      #expect(Set(numbers).count == numbers.count && numbers == numbers.sorted())
      missing.append(sent - numbers.count)
      let counts = try #require(call.bob.session.receiveStatistics[.audio])
      #expect(counts.packetsReceived + counts.packetsLost == counts.packetsExpected)
      #expect(counts.packetsReceived + counts.repairedByRedundancy == counts.frames)
      // Gaps tell what is still missing, and nothing else.
      let frames = call.bob.frames(.opus)
      #expect(
        frames.compactMap(\.gap).reduce(0) { $0 + $1.packetsLost }
          == Int(counts.packetsLost - counts.repairedByRedundancy))
      for (before, (frame, number)) in zip(numbers, zip(frames, numbers).dropFirst()) {
        #expect((frame.gap?.reason == .lost) == (number != before + 1), "\(number)")
      }
      print(
        "measured: \(copies) copies, 20 % loss, seed \(seed): \(missing[copies]) of \(sent) packets of audio missing,",
        "\(counts.repairedByRedundancy) repaired")
    }
    #expect(missing[1] * 4 <= missing[0])
    #expect(missing[2] * 16 <= missing[0])
  }

  @Test("with retransmission and reordering, no packet is delivered twice and each at its time")
  func retransmission() throws {
    var call = Self.call(seed: 8, copies: 1, loss: 0.1, nack: true, reordering: .milliseconds(60))
    call.run(for: .seconds(60))
    call.toBob.conditions = .init(delay: .milliseconds(25))
    call.run(for: .seconds(1))
    call.settle()
    let numbers = try Self.numbers(call)
    #expect(Set(numbers).count == numbers.count && numbers == numbers.sorted())
    #expect(numbers.count >= call.played.count { $0.codec == .opus } - 3)
  }

  @Test("a sender may use RED for some packets only, and packets that cannot be read count as lost")
  func mixed() throws {
    var call = Self.call(seed: 9, copies: 0, loss: 0)
    let encoder = Encoder(copies: 1)
    var count = 0
    call.rewrite = { packet in
      guard packet.ssrc == Negotiated.aliceAudio else { return packet }
      count += 1
      var encoded = encoder.encode(packet)
      if count % 50 == 30 { encoded.payload = ByteBuffer(bytes: [0xEF, 1, 2, 3]) }
      return count % 50 < 25 ? packet : encoded
    }
    call.run(for: .seconds(20))
    call.settle()
    let numbers = try Self.numbers(call)
    let sent = call.played.count { $0.codec == .opus }
    #expect(numbers == Array(0..<sent))
    let counts = try #require(call.bob.session.receiveStatistics[.audio])
    #expect(counts.repairedByRedundancy == UInt64(sent / 50))
    #expect(call.bob.frames(.opus).allSatisfy { $0.gap?.reason != .lost })
  }

  @Test("copies with untrue times are not used, and do not prevent others from being used")
  func untrue() throws {
    var call = Self.call(seed: 10, copies: 0, loss: 0.1)
    let encoder = Encoder(copies: 1)
    call.rewrite = { packet in
      guard packet.ssrc == Negotiated.aliceAudio else { return packet }
      var encoded = encoder.encode(packet)
      guard var audio = try? RedundantAudio(parsing: encoded.payload), let copy = audio.copies.first else {
        return encoded
      }
      var other = copy
      other.offset = 500
      audio.copies.append(other)
      encoded.payload = ByteBuffer()
      audio.write(into: &encoded.payload)
      return encoded
    }
    call.run(for: .seconds(30))
    call.toBob.conditions.loss = 0
    call.run(for: .seconds(1))
    call.settle()
    let numbers = try Self.numbers(call)
    #expect(numbers.count > 1_500)
    #expect(try #require(call.bob.session.receiveStatistics[.audio]).repairedByRedundancy > 100)
  }

  @Test("audio may change between codecs with different clocks, and its time continues")
  func clocks() throws {
    var media = Negotiated()
    media.alternatives = [(.pcmu, 0), (.g722, 9)]
    var call = SessionCall(seed: 6, toBob: .init(delay: .milliseconds(20)), media: media)
    call.source = nil
    var sent: [ByteBuffer] = []
    for number in 0..<500 {
      let codec: Codec = [.opus, .pcmu, .g722, .opus, .pcmu][number / 100]
      let payload =
        codec == .opus
        ? ByteBuffer(bytes: [0xFC, UInt8(number & 0xFF), UInt8(number >> 8), 7])
        : ByteBuffer(bytes: (0..<160).map { UInt8(truncatingIfNeeded: $0 + number) })
      sent.append(payload)
      call.give(
        EncodedFrame(
          owner: ParticipantID("source"), codec: codec,
          time: MediaTime(ticks: Int64(number) * Int64(codec.clockRate) / 50, rate: codec.clockRate), payload: payload,
          isKeyframe: true, arrival: call.now.instant))
      call.run(for: .milliseconds(20))
    }
    call.settle()
    let frames = call.bob.events.compactMap { event -> EncodedFrame? in
      if case .frame(let frame) = event { frame } else { nil }
    }
    expectSame(frames.map(\.payload), sent)
    #expect(frames.allSatisfy { $0.time.rate == $0.codec.clockRate && $0.gap == nil })
    let first = try #require(frames.first)
    for (number, frame) in frames.enumerated() {
      let deviation = frame.time.duration(since: first.time) - .milliseconds(20 * number)
      #expect(deviation < .milliseconds(80) && deviation > .milliseconds(-80), "\(number)")
    }
    // Within a codec the distances are exact.
    for (before, frame) in zip(frames, frames.dropFirst()) where before.codec == frame.codec {
      #expect(frame.time.ticks - before.time.ticks == Int64(frame.codec.clockRate) / 50)
    }
  }

  @Test("silence that a sender of G.711 does not send is told apart from a pause by the marker")
  func talkspurts() {
    var media = Negotiated()
    media.audio = .pcmu
    var call = SessionCall(seed: 7, media: media)
    call.source = nil
    call.rewrite = { packet in
      var packet = packet
      packet.marker =
        packet.ssrc == Negotiated.aliceAudio && packet.payload.getInteger(at: packet.payload.readerIndex) == UInt8(1)
      return packet
    }
    for number in [0, 1, 2, 50, 51, 100, 101] {
      let isStart = number == 50
      call.run(for: call.start + .milliseconds(20 * number) - call.now)
      call.give(
        EncodedFrame(
          owner: ParticipantID("source"), codec: .pcmu, time: MediaTime(ticks: Int64(number) * 160, rate: 8_000),
          payload: ByteBuffer(repeating: isStart ? 1 : 2, count: 160), isKeyframe: true, arrival: call.now.instant))
    }
    call.settle()
    #expect(call.bob.frames(.pcmu).map { $0.gap?.reason } == [nil, nil, nil, .dtx, nil, .senderPaused, nil])
  }
}
