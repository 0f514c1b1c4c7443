import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Absurd packets in a session")
struct AbsurdPacketsTests {
  /// Plays 60 frames and 100 audio packets, calling `disturb` between them.
  private func listen(
    _ media: Negotiated = Negotiated(), disturbing disturb: (inout Listener, Int) -> Void
  ) -> Listener {
    var listener = Listener(media: media)
    var video = PacketMaker.video()
    var audio = PacketMaker.audio()
    for number in 0..<100 {
      listener.receive(audio.audio(number))
      if number % 5 < 3 { listener.receive(video.videoFrame(number / 5 * 3 + number % 5, isKeyframe: number == 0)) }
      disturb(&listener, number)
      listener.run(for: .milliseconds(20))
    }
    listener.run(for: .seconds(1))
    return listener
  }

  private func expectUndisturbed(_ listener: Listener, _ comment: Comment? = nil) {
    #expect(listener.numbers(.opus) == Array(0..<100), comment)
    #expect(listener.numbers(.vp8) == Array(0..<60), comment)
    #expect(listener.gaps(.opus).isEmpty && listener.gaps(.vp8).isEmpty, comment)
  }

  @Test("packets of payload types that were not negotiated are refused", arguments: [0, 13, 63, 127] as [UInt8])
  func unknownPayloadTypes(type: UInt8) {
    let listener = listen { listener, number in
      for ssrc in [Negotiated.aliceVideo, Negotiated.aliceAudio, 0xDEAD] {
        listener.receive(
          RTPPacket(
            payloadType: type, sequenceNumber: UInt16(number), timestamp: 1, ssrc: ssrc,
            payload: ByteBuffer(bytes: [1, 2, 3])))
      }
    }
    expectUndisturbed(listener)
  }

  @Test("CSRCs, header extensions and padding do not change the payload")
  func decorated() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<20 {
      var packet = audio.audio(number)
      packet.contributingSources = Array(1...15)
      packet.extensions.setText(String(repeating: "x", count: 200), 9)
      packet.paddingLength = 255
      listener.receive(packet)
      listener.run(for: .milliseconds(20))
    }
    listener.run(for: .seconds(1))
    #expect(listener.numbers(.opus) == Array(0..<20))
    #expect(listener.gaps(.opus).isEmpty)
  }

  @Test("packets without a payload count as padding, and a VP8 payload without frame data as a damaged frame")
  func emptyPayloads() throws {
    var listener = Listener()
    var audio = PacketMaker.audio()
    var video = PacketMaker.video()
    for number in 0..<30 {
      listener.receive(number == 10 ? audio.audio(payload: ByteBuffer()) : audio.audio(number))
      var packets = video.videoFrame(number, isKeyframe: number % 15 == 0, packets: 1)
      if number == 10 { packets[0].payload = ByteBuffer(bytes: [0x90, 0x80]) }
      listener.receive(packets)
      listener.run(for: .milliseconds(20))
    }
    listener.run(for: .seconds(1))
    #expect(listener.numbers(.opus) == (0..<30).filter { $0 != 10 })
    #expect(try #require(listener.session.receiveStatistics[.audio]).packetsPadding == 1)
    #expect(listener.numbers(.vp8) == Array(0..<10) + Array(15..<30))
  }

  @Test("Opus packets of 2.5 ms and of 120 ms are delivered unchanged, and a longer one is dropped")
  func opusDurations() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    // 2.5 ms of CELT; 120 ms as two frames of 60 ms; 48 frames of 20 ms, which exceed the 120 ms that a packet may hold.
    let shapes: [(bytes: [UInt8], ticks: UInt32)] = [
      ([0xE0, 1, 2, 3], 120), ([0x19, 1, 2, 3, 4], 5_760), ([0x1B, 0x30, 1, 2], 960),
    ]
    for shape in shapes + shapes {
      listener.receive(audio.audio(payload: ByteBuffer(bytes: shape.bytes)))
      audio.timestamp = audio.timestamp &- 960 &+ shape.ticks
      listener.run(for: .milliseconds(20))
    }
    listener.run(for: .seconds(1))
    let frames = listener.frames(.opus)
    #expect(frames.map { Array($0.payload.readableBytesView) } == [0, 1, 0, 1].map { shapes[$0].bytes })
    #expect(frames.map(\.gap) == [nil, nil, MediaGap(.lost, framesDropped: 1), nil])
  }

  @Test("a keyframe wider or higher than 4,096 pixels, or of size zero, is dropped with all frames that depend on it")
  func largeVideoFrames() {
    let sizes = [(16_383, 16_383), (4_097, 16), (16, 4_097), (0, 480), (640, 0)]
    for (width, height) in sizes {
      var listener = Listener()
      var video = PacketMaker.video()
      for number in 0..<60 {
        let size = VideoSize(width: number == 20 ? width : 4_096, height: number == 20 ? height : 4_096)
        listener.receive(video.videoFrame(number, isKeyframe: number % 20 == 0, size: size))
        listener.run(for: .microseconds(33_333))
      }
      #expect(listener.numbers(.vp8) == Array(0..<20) + Array(40..<60), "\(width)x\(height)")
      #expect(listener.gaps(.vp8).map(\.gap) == [MediaGap(.waitingForKeyframe, framesDropped: 20)])
      // The dropped keyframe does not satisfy the request for one.
      #expect(listener.keyframeRequests.count == 2)
      #expect(listener.frames(.vp8).compactMap(\.size).allSatisfy { $0 == VideoSize(width: 4_096, height: 4_096) })
    }
  }

  @Test("every frame of a video whose size changes every 2 s is delivered")
  func sizes() {
    var listener = Listener()
    var video = PacketMaker.video()
    var expected: [VideoSize] = []
    for number in 0..<100 {
      let size = VideoSize(width: 16 + number / 10 * 128, height: 16 + (100 - number) / 10 * 64)
      if number % 10 == 0 { expected.append(size) }
      listener.receive(video.videoFrame(number, isKeyframe: number % 10 == 0, size: expected.last ?? size))
      listener.run(for: .milliseconds(200))
    }
    #expect(listener.numbers(.vp8) == Array(0..<100))
    #expect(listener.frames(.vp8).compactMap(\.size) == expected)
  }

  @Test(
    "a jump in the sequence numbers loses the skipped packets and nothing else",
    arguments: [100, 1_500, 5_000, 8_000, 40_000])
  func sequenceJumps(jump: Int) {
    var media = Negotiated()
    media.nack = false
    var listener = Listener(media: media)
    var audio = PacketMaker.audio()
    for number in 0..<100 {
      if number == 50 { audio.sequence &+= UInt16(jump) }
      listener.receive(audio.audio(number))
      listener.run(for: .milliseconds(20))
    }
    listener.run(for: .seconds(2))
    #expect(listener.numbers(.opus) == Array(0..<100))
    let gaps = listener.gaps(.opus)
    #expect(gaps.map(\.before) == [50])
    // A jump of more than 8,192 counts as a restart of the stream.
    #expect(gaps.first?.gap.reason == (jump > 8_192 ? .reconnect : .lost))
    #expect(gaps.first?.gap.packetsLost == (jump > 8_192 ? 0 : jump))
  }

  @Test(
    "with timestamps of zero, backwards, an hour later or random, all frames are delivered in order, and audio is unchanged"
  )
  func timestamps() {
    var generator = SeededGenerator(seed: 4)
    let wrongs: [(Int, UInt32) -> UInt32] = [
      { _, _ in 0 },
      { number, right in right &- UInt32(number) * 9_000 },
      { number, right in number < 30 ? right : right &+ 3_600 * 90_000 },
      { _, _ in UInt32.random(in: 0...(.max), using: &generator) },
      { _, right in right &* 1_000 },
    ]
    for wrong in wrongs {
      var listener = Listener()
      var video = PacketMaker.video()
      var audio = PacketMaker.audio()
      for number in 0..<60 {
        let stamp = wrong(number, video.timestamp)
        var packets = video.videoFrame(number, isKeyframe: number % 10 == 0)
        for position in packets.indices { packets[position].timestamp = stamp }
        listener.receive(packets)
        listener.receive(audio.audio(number))
        listener.run(for: .milliseconds(20))
      }
      listener.run(for: .seconds(1))
      #expect(listener.numbers(.vp8) == Array(0..<60))
      let audioTicks = listener.frames(.opus).map(\.time.ticks)
      #expect(zip(audioTicks, audioTicks.dropFirst()).allSatisfy { $1 - $0 == 960 })
    }
  }

  @Test("RTCP packets of 1 to 11 bytes, and random ones of any length, change nothing")
  func controlPackets() {
    var generator = SeededGenerator(seed: 9)
    let listener = listen { listener, number in
      for length in 1...11 {
        listener.receiveControl((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
        // Packets with a valid beginning.
        listener.receiveControl(
          Array(
            ([0x80 | UInt8(number & 0x1F), UInt8(200 + number % 8), 0, UInt8(length / 4)]
              + [UInt8](repeating: 7, count: 8)).prefix(length)))
      }
      let length = Int.random(in: 12...1_400, using: &generator)
      listener.receiveControl(
        [0x81, UInt8.random(in: 192...223, using: &generator)]
          + (2..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
    expectUndisturbed(listener)
  }

  @Test(
    "random packets of random sources do not break the session", arguments: 1...4 as ClosedRange<UInt64>
  )
  func noise(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let listener = listen { listener, _ in
      for _ in 0..<5 {
        let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        listener.session.receivedRTP(
          ByteBuffer(bytes: [0x80 | UInt8.random(in: 0...31, using: &generator)] + bytes), now: listener.now)
      }
    }
    // A random packet has one of our payload types in about one of forty cases, and is then treated as a new source of
    // the peer.
    #expect(listener.frames(.vp8).count <= 70)
    #expect(listener.session.deadline.map { $0 > listener.now } ?? true)
  }
}
