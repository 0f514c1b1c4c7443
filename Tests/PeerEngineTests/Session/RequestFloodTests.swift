import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Request floods in a session")
struct RequestFloodTests {
  @Test("NACKs for 16,000 packets a second cause far fewer retransmissions")
  func nackFlood() throws {
    var media = Negotiated()
    media.audioNack = true
    var call = SessionCall(media: media)
    call.source?.keyframeEvery = 60
    call.run(for: .seconds(2))
    let (start, sentBefore) = (call.now, call.alice.rtp.count)
    for _ in 0..<300 {
      // The last 80 packets of each track, every 10 ms: 16,000 sequence numbers a second.
      for ssrc in [Negotiated.aliceVideo, Negotiated.aliceAudio] {
        guard let last = call.alice.rtp.last(where: { $0.packet.ssrc == ssrc })?.packet.sequenceNumber else { continue }
        var datagram = ByteBuffer()
        RTCPPacket.write(
          [
            .genericNACK(
              GenericNACK(senderSSRC: 1, mediaSSRC: ssrc, sequenceNumbers: (0..<80).map { last &- 79 &+ $0 }))
          ],
          into: &datagram)
        call.alice.session.receivedRTCP(datagram, now: call.now)
      }
      call.run(for: .milliseconds(10))
    }
    let seconds = (call.now - start) / .seconds(1)
    let sent = call.alice.rtp[sentBefore...].map(\.packet)
    let again = sent.filter { $0.ssrc == Negotiated.aliceRepair }
    let video = sent.filter { $0.ssrc == Negotiated.aliceVideo }.map(\.byteCount).reduce(0, +)
    let repeats = again.map(\.byteCount).reduce(0, +)
    print(
      "measured: of 16,000 packets requested a second \(Int(Double(again.count) / seconds)) were retransmitted,",
      "\(repeats / 1_000) kB in \(Int(seconds)) s besides \(video / 1_000) kB of video")
    #expect(repeats <= video * 3 / 2 + RetransmissionBudget.maximumBytes)
    var counts: [UInt16: Int] = [:]
    for packet in again {
      let number: UInt16 = try #require(packet.payload.getInteger(at: packet.payload.readerIndex))
      counts[number, default: 0] += 1
    }
    #expect(try #require(counts.values.max()) <= PacketHistory.maximumRepetition)
    // The flooding peer still receives all its audio and video.
    call.settle()
    expectSame(call.bob.frames(.opus).map(\.payload), call.played.filter { $0.codec == .opus }.map(\.payload))
    expectSame(call.bob.frames(.vp8).map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
  }

  @Test("of a thousand keyframe requests a second two are answered, within the pacer's rate")
  func keyframeFlood() {
    var call = SessionCall()
    call.run(for: .seconds(2))
    let (start, before) = (call.now, call.alice.rtp.count)
    for _ in 0..<2_000 {
      var datagram = ByteBuffer()
      RTCPPacket.write(
        [.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: Negotiated.aliceVideo))],
        into: &datagram)
      call.alice.session.receivedRTCP(datagram, now: call.now)
      call.run(for: .milliseconds(1))
    }
    let seconds = (call.now - start) / .seconds(1)
    let bits = Double(call.alice.rtp[before...].map(\.packet.byteCount).reduce(0, +)) * 8
    print("measured: with 1,000 keyframe requests a second it sent \(Int(bits / seconds / 1_000)) kb/s")
    #expect(call.alice.keyframeRequests.count <= 5)
    #expect(bits / seconds < Pacer.Configuration().maximumRate * 1.05)
  }
}
