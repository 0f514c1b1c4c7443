import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Sources that wrap, change and send padding, between two sessions")
struct SourceChangeTests {
  /// Shifts the video's sequence numbers and timestamps in transit, so that its first packet has the given ones.
  private final class Shift {
    private let firstNumber: UInt16
    private let firstTimestamp: UInt32
    private var offsets: (number: UInt16, timestamp: UInt32)?

    init(firstNumber: UInt16, firstTimestamp: UInt32) {
      self.firstNumber = firstNumber
      self.firstTimestamp = firstTimestamp
    }

    func forward(_ packet: RTPPacket) -> RTPPacket {
      guard packet.ssrc != Negotiated.aliceAudio else { return packet }
      var packet = packet
      if offsets == nil {
        offsets = (firstNumber &- packet.sequenceNumber, firstTimestamp &- packet.timestamp)
      }
      guard let offsets else { return packet }
      packet.timestamp &+= offsets.timestamp
      if packet.ssrc == Negotiated.aliceVideo {
        packet.sequenceNumber &+= offsets.number
      } else {
        let original: UInt16 = packet.payload.getInteger(at: packet.payload.readerIndex) ?? 0
        packet.payload.setInteger(original &+ offsets.number, at: packet.payload.readerIndex)
      }
      return packet
    }

    func back(_ packet: RTCPPacket) -> RTCPPacket {
      guard case .genericNACK(let nack) = packet, let offsets else { return packet }
      return .genericNACK(
        GenericNACK(
          senderSSRC: nack.senderSSRC, mediaSSRC: nack.mediaSSRC,
          sequenceNumbers: nack.sequenceNumbers.map { $0 &- offsets.number }))
    }
  }

  @Test("sequence numbers and timestamps wrap without a gap, lost packets included")
  func wrap() throws {
    var call = SessionCall(
      seed: 2, toBob: .init(loss: 0.05, delay: .milliseconds(20)), toAlice: .init(delay: .milliseconds(20)))
    let shift = Shift(firstNumber: 65_300, firstTimestamp: .max - 300_000)
    call.rewrite = shift.forward
    call.rewriteFeedback = shift.back
    call.run(for: .seconds(10))
    call.toBob.conditions.loss = 0
    call.run(for: .milliseconds(200))
    call.settle()
    let frames = call.bob.frames(.vp8)
    expectSame(frames.map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1 - $0 == 3_000 })
    #expect(try #require(ticks.last) > 1 << 32)
    let counts = try #require(call.bob.session.receiveStatistics[.video])
    #expect(counts.packetsLost == 0)
    #expect(counts.packetsRecovered > 0)
    print(
      "measured: across the wrap of numbers and timestamps: \(frames.count) frames, \(counts.packetsRecovered) packets",
      "recovered, \(counts.packetsLost) lost, every step 3,000 ticks")
  }

  @Test("a new SSRC is accepted at once, and its timeline continues by the clock", arguments: [true, false])
  func newSource(knowsClock: Bool) throws {
    var media = Negotiated()
    media.announced = false
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)), media: media)
    call.source?.keyframeEvery = 90
    var isChanged = false
    call.rewrite = { packet in
      guard isChanged, packet.ssrc == Negotiated.aliceVideo else { return packet }
      var packet = packet
      packet.ssrc = 0xCAFE
      packet.sequenceNumber &+= 7_000
      packet.timestamp &+= 123_456_789
      return packet
    }
    // Ends just before a keyframe.
    call.run(for: .milliseconds(2_990))
    isChanged = true
    if knowsClock {
      // The new source's first sender report arrives before its first packet.
      let (sent, report) = try #require(
        call.alice.rtcp.compactMap { sent -> (MonotonicInstant, SenderReport)? in
          guard case .senderReport(let report) = sent.packet, report.ssrc == Negotiated.aliceVideo else { return nil }
          return (sent.time, report)
        }.last)
      var moved = report
      moved.ssrc = 0xCAFE
      moved.rtpTimestamp &+= 123_456_789
      var datagram = ByteBuffer()
      RTCPPacket.write([.senderReport(moved)], into: &datagram)
      call.bob.session.receivedRTCP(datagram, now: max(sent, call.now))
    }
    call.run(for: .seconds(3))
    call.settle()
    let frames = call.bob.frames(.vp8)
    expectSame(frames.map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
    let ticks = frames.map(\.time.ticks)
    print(
      "measured: a new SSRC, \(knowsClock ? "with" : "without") reports: \(frames.count) frames, a step of",
      "\(ticks.count > 90 ? ticks[90] - ticks[89] : 0) ticks instead of 3,000")
    for (position, step) in zip(ticks, ticks.dropFirst()).map({ $1 - $0 }).enumerated() {
      // Only at the change, and only without sender reports, the arrival time determines the step.
      #expect(abs(step - 3_000) <= (position == 89 && !knowsClock ? 4_500 : position == 89 ? 2 : 0))
    }
  }

  @Test("a sender that restarts its sequence numbers with the same SSRC is accepted")
  func restartedNumbers() {
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)))
    call.source?.keyframeEvery = 60
    var isChanged = false
    call.rewrite = { packet in
      guard isChanged, packet.ssrc == Negotiated.aliceVideo else { return packet }
      var packet = packet
      packet.sequenceNumber &+= 20_000
      packet.timestamp &+= 2_000_000_000
      return packet
    }
    call.run(for: .milliseconds(3_990))
    isChanged = true
    call.run(for: .seconds(2))
    call.settle()
    let frames = call.bob.frames(.vp8)
    expectSame(frames.map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < 10_000 })
  }

  @Test("the buffered frames of a source are delivered after its BYE, and the source may return")
  func goodbye() {
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)))
    call.run(for: .seconds(1))
    var datagram = ByteBuffer()
    RTCPPacket.write([.goodbye(Goodbye(sources: [Negotiated.aliceVideo]))], into: &datagram)
    call.bob.session.receivedRTCP(datagram, now: call.now)
    call.run(for: .seconds(2))
    call.settle()
    #expect(call.bob.frames(.vp8).last?.payload == call.played.last { $0.codec == .vp8 }?.payload)
  }

  @Test("packets with only padding are not lost packets, neither in the media stream nor in the RTX stream")
  func padding() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)))
    var added: UInt16 = 0
    call.rewrite = { packet in
      guard packet.ssrc == Negotiated.aliceVideo else { return packet }
      var packet = packet
      packet.sequenceNumber &+= added
      return packet
    }
    for _ in 0..<20 {
      call.run(for: .milliseconds(200))
      // A probe of five packets, as browsers send them: padding in the media stream with the last timestamp, and in the
      // RTX stream padding alone, padding with a sequence number, and an old packet.
      call.run(for: .milliseconds(30))
      let old = try #require(call.alice.rtp.last { $0.packet.ssrc == Negotiated.aliceVideo }).packet
      for _ in 0..<5 {
        added &+= 1
        inject(
          RTPPacket(
            payloadType: 96, sequenceNumber: old.sequenceNumber &+ added, timestamp: old.timestamp,
            ssrc: Negotiated.aliceVideo, paddingLength: 255), into: &call)
      }
      for payload in [ByteBuffer(), ByteBuffer(integer: old.sequenceNumber &+ added &- 5)] {
        inject(
          RTPPacket(
            payloadType: 97, sequenceNumber: added, timestamp: old.timestamp, ssrc: Negotiated.aliceRepair,
            payload: payload, paddingLength: 100), into: &call)
      }
      var again = old
      again.sequenceNumber &+= added &- 5
      inject(Retransmission.wrap(again, payloadType: 97, ssrc: Negotiated.aliceRepair, sequenceNumber: 1), into: &call)
    }
    call.settle()
    expectSame(call.bob.frames(.vp8).map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
    let counts = try #require(call.bob.session.receiveStatistics[.video])
    #expect(counts.packetsLost == 0)
    #expect(counts.packetsRequested == 0)
    #expect(counts.framesDropped == 0)
    #expect(counts.packetsReceived == UInt64(call.alice.rtp.count { $0.packet.ssrc == Negotiated.aliceVideo }))
  }

  @Test("of simulcast streams, the largest one that arrives is used, and a smaller one when it stops")
  func simulcast() throws {
    var media = Negotiated()
    media.announced = false
    var call = SessionCall(media: media)
    call.source = nil
    var generator = SeededGenerator(seed: 5)
    let layers = [("q", 160, 1), ("h", 320, 2), ("f", 640, 3)]
    var numbers: [UInt32: UInt16] = [:]
    func send(_ layer: (String, Int, Int), frame: Int, isKeyframe: Bool) {
      let ssrc = UInt32(0x100 + layer.2)
      var extensions = RTPHeaderExtensions()
      extensions.setText("1", 4)
      extensions.setText(layer.0, 10)
      let videoFrame = SyntheticSource.vp8(
        number: frame * 10 + layer.2, isKeyframe: isKeyframe,
        size: VideoSize(width: layer.1, height: layer.1 * 3 / 4), bytes: 500, time: 0, arrival: call.now,
        using: &generator)
      let payloads = VP8Packetizer(maximumPayloadSize: 1_000).packetize(
        frame: videoFrame.payload, descriptor: VP8PayloadDescriptor(startsPartition: true))
      for payload in payloads {
        inject(
          RTPPacket(
            marker: true, payloadType: 96, sequenceNumber: numbers[ssrc, default: 0],
            timestamp: UInt32(frame * 3_000 + layer.2 * 1_000_000), ssrc: ssrc, extensions: extensions,
            payload: payload), into: &call)
        numbers[ssrc, default: 0] += 1
      }
    }
    for frame in 0..<300 {
      // All layers begin together; after 5 s the largest one is turned off, as when the bandwidth falls.
      for layer in layers where layer.2 < 3 || frame < 150 {
        send(layer, frame: frame, isKeyframe: frame == 0 || (frame == 200 && layer.2 == 2))
      }
      call.run(for: .microseconds(33_333))
    }
    let frames = call.bob.frames(.vp8)
    let layersSeen = frames.compactMap(SyntheticSource.number).map { $0 % 10 }
    #expect(layersSeen.filter { $0 == 1 }.count == 1)
    #expect(layersSeen.filter { $0 == 3 }.count == 150)
    #expect(layersSeen.last == 2)
    #expect(frames.compactMap(SyntheticSource.number).last == 2_992)
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
    // 300 frames are 10 s on the timeline, whatever each layer's timestamps are.
    #expect(abs(try #require(ticks.last) - (try #require(ticks.first)) - 897_000) < 9_000)
    let asked = call.bob.rtcp.compactMap { sent -> UInt32? in
      if case .pictureLossIndication(let request) = sent.packet { request.mediaSSRC } else { nil }
    }
    #expect(!asked.isEmpty && Set(asked) == [0x102])
  }

  private func inject(_ packet: RTPPacket, into call: inout SessionCall) {
    var datagram = ByteBuffer()
    packet.write(into: &datagram)
    call.toBob.send(datagram, now: call.now)
  }
}
