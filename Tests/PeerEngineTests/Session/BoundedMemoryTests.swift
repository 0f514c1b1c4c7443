import Media
import NIOCore
import RTP
import TestSupport
import Testing

@testable import PeerEngine

@Suite("Bounds on the memory that a peer can occupy in a session")
struct BoundedMemoryTests {
  @Test(
    "at most 8 MiB of video is buffered behind a gap, however large the packets are",
    arguments: [(1_500, 4_300), (20_000, 500), (60_000, 200)])
  func bytes(size: Int, packets: Int) throws {
    var listener = Listener()
    var sequence: UInt16 = 100
    let payload = ByteBuffer(bytes: [0x10] + [UInt8](repeating: 1, count: size - 1))
    var most = 0
    for count in 0..<packets {
      // The second packet never arrives.
      if count != 1 {
        listener.receive(
          RTPPacket(
            payloadType: 96, sequenceNumber: sequence, timestamp: UInt32(count / 10), ssrc: Negotiated.aliceVideo,
            payload: payload))
      }
      sequence &+= 1
      most = max(most, listener.session.receiving[1].waiting.bytes)
      listener.run(for: .microseconds(100))
    }
    let limit = ReceiveTrack.Configuration().waitingBytes
    #expect(limit == 8 << 20)
    #expect(most <= limit + size)
    // Large packets reach the limit; small ones are limited by their number before that.
    #expect(size < 2_000 ? most <= 4_097 * size : most > limit - size)
    #expect(try #require(listener.session.receiveStatistics[.video]).packetsLost == 1)
  }

  @Test("any number of gaps together buffer at most the same", arguments: [2, 3, 7])
  func holes(every: Int) {
    var listener = Listener()
    var sequence: UInt16 = 100
    let payload = ByteBuffer(bytes: [0x10] + [UInt8](repeating: 1, count: 40_000))
    var most = 0
    for count in 0..<400 {
      if count % every != 1 {
        listener.receive(
          RTPPacket(
            payloadType: 96, sequenceNumber: sequence, timestamp: UInt32(count), ssrc: Negotiated.aliceVideo,
            payload: payload))
      }
      sequence &+= 1
      most = max(most, listener.session.receiving[1].waiting.bytes)
    }
    #expect(most <= 8 << 20 + 40_001)
  }

  @Test("a frame that never ends is cut off at 4 MiB or 8,192 packets", arguments: [1, 1_000])
  func endlessVideoFrame(size: Int) {
    var assembler = VP8FrameAssembler()
    let now = MonotonicInstant.now
    let bytes = ByteBuffer(bytes: [0x10, 0x11, 0, 0] + [UInt8](repeating: 1, count: size))
    for count in 0..<9_000 {
      let payload = count == 0 ? bytes : ByteBuffer(bytes: [0x00] + [UInt8](repeating: 1, count: size))
      assembler.add(ReceivedPacket(payload: payload, timestamp: 7, marker: false, arrival: now))
    }
    assembler.finish()
    let frame = assembler.popFrame()
    #expect(frame?.dependency.isComplete == false)
    #expect(frame.map { $0.payload.readableBytes <= (size == 1 ? 8_200 : 4 << 20) } == true)
  }

  @Test("any number of sources keep the state of at most eight")
  func sources() {
    var media = Negotiated()
    media.announced = false
    var listener = Listener(media: media)
    for ssrc in 1...500 as ClosedRange<UInt32> {
      listener.receive(
        RTPPacket(
          payloadType: 96, sequenceNumber: 1, timestamp: 1, ssrc: ssrc, payload: ByteBuffer(bytes: [0x10, 1, 2, 3])))
    }
    #expect(listener.session.receiving[1].sources.count <= 8)
  }
}
