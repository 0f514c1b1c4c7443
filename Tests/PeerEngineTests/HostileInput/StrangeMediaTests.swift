import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import RTP
import TestSupport
import Testing

@Suite("A participant who sends unusual media")
struct StrangeMediaTests {
  private func scene() throws -> (mallory: ScriptedPeer, anna: HonestParticipant) {
    let call = DemultiplexerCall(seed: 51)
    let anna = try HonestParticipant(in: call)
    return (try ScriptedPeer(in: call), anna)
  }

  /// Expects that the call continues, and that a keyframe and the frames after it are still delivered, from any source.
  private func expectUsable(_ mallory: ScriptedPeer, from number: Int, ssrc: UInt32? = nil) {
    var sent: [ByteBuffer] = []
    for position in 0..<5 {
      sent.append(mallory.sendVideoFrame(number + position, isKeyframe: position == 0, ssrc: ssrc))
    }
    // The receiver waits for up to 3 s for packets missing before these frames.
    mallory.call.run(for: .seconds(4))
    #expect(mallory.engine?.state == .connected)
    expectSame(Array(mallory.videoFrames.suffix(5)), sent)
  }

  @Test("frames of each source are delivered when a participant keeps changing the SSRC")
  func changesSource() throws {
    let (mallory, anna) = try scene()
    var sent: [ByteBuffer] = []
    for source in 0..<20 {
      for position in 0..<10 {
        sent.append(
          mallory.sendVideoFrame(source * 10 + position, isKeyframe: position == 0, ssrc: 0xABC0_0000 + UInt32(source)))
      }
    }
    mallory.call.run(for: .seconds(1))
    expectSame(mallory.videoFrames, sent)
    expectUsable(mallory, from: 300, ssrc: 0xABC0_0000 + 19)
    anna.expectUnharmed()
  }

  @Test("packets that each have an SSRC of their own deliver no frame and do no harm")
  func thousandsOfSources() throws {
    let (mallory, anna) = try scene()
    for source in UInt32(0)..<2_000 {
      mallory.send(mallory.packet(.video, ByteBuffer(bytes: [0x10, 0x11]), timestamp: source, ssrc: source &+ 77))
      if source % 50 == 0 { mallory.call.run(for: .milliseconds(10)) }
    }
    #expect((mallory.engine?.receivedTracks ?? 0) <= 2)
    expectUsable(mallory, from: 400)
    anna.expectUnharmed()
  }

  @Test("each keyframe carries its own size when the size changes every 2 s")
  func changesSize() throws {
    let (mallory, anna) = try scene()
    let sizes = [(320, 240), (640, 480), (160, 120), (1_280, 720), (2, 2), (1, 1)].map {
      VideoSize(width: $0.0, height: $0.1)
    }
    for (turn, size) in sizes.enumerated() {
      for position in 0..<60 { mallory.sendVideoFrame(turn * 60 + position, isKeyframe: position == 0, size: size) }
    }
    mallory.call.run(for: .milliseconds(500))
    let frames = mallory.call.frames(of: mallory.name).filter { $0.codec == .vp8 }
    #expect(frames.count == 360)
    #expect(frames.compactMap(\.size) == sizes)
    anna.expectUnharmed()
  }

  @Test("packets that are only padding deliver no frame and count as no loss, and later frames are delivered")
  func onlyPadding() throws {
    let (mallory, anna) = try scene()
    for number in UInt32(0)..<250 {
      mallory.send(mallory.packet(.video, ByteBuffer(), timestamp: number * 90, marker: false, padding: 255))
      mallory.send(mallory.packet(.video, ByteBuffer(), timestamp: number * 90, marker: false, padding: 1))
      mallory.call.run(for: .milliseconds(20))
    }
    #expect(mallory.videoFrames.count == 0)
    #expect(mallory.engine?.statistics.received[.video]?.packetsLost == 0)
    #expect(mallory.engine?.statistics.received[.video]?.packetsRequested == 0)
    expectUsable(mallory, from: 10)
    anna.expectUnharmed()
  }

  @Test("a frame of which half is missing is not delivered, and the next keyframe is")
  func stopsInMidFrame() throws {
    let (mallory, anna) = try scene()
    let first = mallory.sendVideoFrame(0, isKeyframe: true)
    let half = mallory.videoFrame(1, isKeyframe: false, packets: 6)
    for packet in half.packets.prefix(3) { mallory.send(packet) }
    mallory.call.run(for: .seconds(6))
    #expect(mallory.videoFrames == [first])
    expectUsable(mallory, from: 200)
    anna.expectUnharmed()
  }

  @Test("of Opus packets of 0 bytes, 2.5 ms and 120 ms, all that are valid are delivered unchanged")
  func strangeAudio() throws {
    let (mallory, anna) = try scene()
    // RFC 6716, 3.1: CELT, fullband; 2.5 ms, then six frames of 20 ms in one packet of equal frames.
    let short = ByteBuffer(bytes: [0xE0] + (0..<20).map { UInt8($0) })
    let long = ByteBuffer(bytes: [0xFB, 0x06] + (0..<120).map { UInt8($0) })
    var timestamp: UInt32 = 0
    for _ in 0..<20 {
      for (payload, ticks) in [(ByteBuffer(), 960), (short, 120), (long, 5_760)] as [(ByteBuffer, UInt32)] {
        mallory.send(mallory.packet(.audio, payload, timestamp: timestamp, marker: false))
        timestamp &+= ticks
        mallory.call.run(for: .milliseconds(Int64(ticks) / 48))
      }
    }
    mallory.call.run(for: .seconds(4))
    #expect(mallory.audioPayloads.filter { $0 == short }.count == 20)
    #expect(mallory.audioPayloads.filter { $0 == long }.count == 20)
    #expect(mallory.audioPayloads.allSatisfy { $0.readableBytes > 0 })
    #expect(mallory.engine?.state == .connected)
    anna.expectUnharmed()
  }

  @Test("frames of 16383x16383 are dropped until a keyframe with a possible size arrives")
  func enormousVideoFrame() throws {
    let (mallory, anna) = try scene()
    let enormous = VideoSize(width: 16_383, height: 16_383)
    for number in 0..<10 { mallory.sendVideoFrame(number, isKeyframe: number % 5 == 0, size: enormous) }
    mallory.call.run(for: .milliseconds(500))
    #expect(mallory.videoFrames.count == 0)
    #expect(mallory.engine?.statistics.received[.video]?.framesDropped == 10)
    expectUsable(mallory, from: 50)
    anna.expectUnharmed()
  }

  @Test("packets of payload type 127 and others that were not negotiated are ignored")
  func unknownPayloadType() throws {
    let (mallory, anna) = try scene()
    mallory.sendVideoFrame(0, isKeyframe: true)
    for type in [127, 0, 63, 77, 126] as [UInt8] {
      for number in 1..<20 { mallory.sendVideoFrame(number, isKeyframe: true, ssrc: 0x1234_0000, payloadType: type) }
    }
    #expect(mallory.videoFrames.count == 1)
    expectUsable(mallory, from: 100)
    anna.expectUnharmed()
  }

  @Test("RTCP of 1 to 11 bytes and RTCP with a wrong length do no harm, protected or not")
  func shortControl() throws {
    let (mallory, anna) = try scene()
    for type in UInt8(192)...223 {
      for count in 1...11 {
        var bytes = ByteBuffer(bytes: [0x81, type, 0x00, 0x01] + [UInt8](repeating: 0xFF, count: 12))
        bytes = ByteBuffer(bytes: bytes.readableBytesView.prefix(count))
        mallory.sendRaw(bytes)
        // libsrtp protects only packets with a complete header.
        if count >= 8 { mallory.sendRaw(mallory.protected(bytes, isControl: true)) }
      }
      for words in [0, 1, 2, 5, 0xFF, 0xFFFF] as [UInt16] {
        for count in [8, 12, 16, 28, 60] {
          var bytes = ByteBuffer(bytes: [0x9F, type])
          bytes.writeInteger(words)
          bytes.writeRepeatingByte(0xA5, count: count - 4)
          mallory.sendRaw(mallory.protected(bytes, isControl: true))
        }
      }
      mallory.call.run(for: .milliseconds(5))
    }
    expectUsable(mallory, from: 0)
    anna.expectUnharmed()
  }
}
