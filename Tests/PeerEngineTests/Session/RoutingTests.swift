import Media
import NIOCore
import NetworkEmulation
import RTP
import TestSupport
import Testing

@testable import PeerEngine

@Suite("Assigning packets to tracks, between two sessions")
struct RoutingTests {
  /// How a receiver can identify a sender's packets.
  enum Signs: String, CaseIterable {
    case sources, mids, payloadTypes

    var media: Negotiated {
      var media = Negotiated()
      media.announced = self == .sources
      media.mids = self != .payloadTypes
      return media
    }
  }

  @Test("packets are assigned to tracks by SSRC, by mid alone and by payload type alone", arguments: Signs.allCases)
  func signs(signs: Signs) {
    var call = SessionCall(
      seed: 8, toBob: .init(loss: 0.03, delay: .milliseconds(20)), media: signs.media)
    if signs == .sources {
      call.rewrite = { packet in
        var packet = packet
        packet.extensions[4] = nil
        return packet
      }
    }
    call.run(for: .seconds(5))
    call.toBob.conditions.loss = 0
    call.run(for: .milliseconds(200))
    call.settle()
    expectSame(call.bob.frames(.vp8).map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
    #expect(call.bob.frames(.opus).count > 230)
  }

  @Test("mids are needed only until the SSRC is known")
  func midsEnd() {
    var call = SessionCall(media: Signs.mids.media)
    var count = 0
    call.rewrite = { packet in
      count += 1
      guard count > 100 else { return packet }
      var packet = packet
      packet.extensions[4] = nil
      // From here on, the SSRC must identify the packet.
      return packet
    }
    call.run(for: .seconds(5))
    call.settle()
    #expect(call.bob.frames(.vp8).count == call.played.count { $0.codec == .vp8 })
  }

  @Test("a packet with an unknown payload type, an unknown mid or an incomplete header does no harm")
  func strangers() throws {
    var call = SessionCall(media: Signs.mids.media)
    call.run(for: .seconds(1))
    let now = call.now
    func receive(_ packet: RTPPacket) {
      var datagram = ByteBuffer()
      packet.write(into: &datagram)
      call.bob.session.receivedRTP(datagram, now: now)
    }
    let payload = ByteBuffer(repeating: 0x90, count: 100)
    receive(RTPPacket(payloadType: 127, sequenceNumber: 1, timestamp: 1, ssrc: 5, payload: payload))
    receive(
      RTPPacket(payloadType: 127, sequenceNumber: 1, timestamp: 1, ssrc: Negotiated.aliceVideo, payload: payload))
    var extensions = RTPHeaderExtensions()
    extensions.setText("7", 4)
    receive(
      RTPPacket(
        payloadType: 96, sequenceNumber: 1, timestamp: 1, ssrc: 6, extensions: extensions, payload: payload))
    for count in 0..<12 {
      call.bob.session.receivedRTP(ByteBuffer(repeating: 0x80, count: count), now: now)
      call.bob.session.receivedRTCP(ByteBuffer(repeating: 0x81, count: count), now: now)
    }
    let before = call.bob.session.receiveStatistics[.video]?.packetsReceived
    #expect(before == call.bob.session.receiveStatistics[.video]?.packetsReceived)
    call.run(for: .seconds(1))
    call.settle()
    #expect(call.bob.frames(.vp8).count == call.played.count { $0.codec == .vp8 })
    #expect(call.bob.session.packetsRefused > 10)
  }

  @Test("a malformed packet of an RTCP compound is counted, and the packets around it are handled")
  func malformedPacket() {
    var call = SessionCall()
    call.run(for: .seconds(2))
    let (requests, refused) = (call.alice.keyframeRequests.count, call.alice.session.packetsRefused)
    var datagram = ByteBuffer()
    RTCPPacket.receiverReport(ReceiverReport(ssrc: 1, reports: [])).write(into: &datagram)
    // A receiver report without the block that it announces.
    datagram.writeBytes([0x81, 0xC9, 0, 1, 0, 0, 0, 1])
    RTCPPacket.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: Negotiated.aliceVideo))
      .write(into: &datagram)
    call.alice.session.receivedRTCP(datagram, now: call.now)
    call.run(for: .milliseconds(500))
    #expect(call.alice.session.packetsRefused == refused + 1)
    #expect(call.alice.keyframeRequests.count == requests + 1)
  }

  @Test("media that arrives before the answer is applied is refused, and the rest of the call is complete")
  func lateConfiguration() {
    var call = SessionCall()
    call.bob.session = MediaSession(owner: ParticipantID("alice"), cname: "bob", seed: 9)
    call.run(for: .seconds(1))
    call.bob.session.configure(Negotiated().bob, now: call.now)
    call.bob.session.transportBecameReady(now: call.now)
    call.run(for: .seconds(3))
    call.settle()
    let numbers = call.bob.frames(.vp8).compactMap(SyntheticSource.number)
    // Bob requested a keyframe, and Alice replayed the whole group.
    #expect(numbers.first == 0)
    #expect(
      Array(numbers.suffix(60))
        == Array((call.played.count { $0.codec == .vp8 } - 60)..<call.played.count { $0.codec == .vp8 }))
  }
}
