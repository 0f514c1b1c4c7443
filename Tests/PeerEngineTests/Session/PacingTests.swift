import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Pacing and headers of sent packets")
struct PacingTests {
  @Test("the packets of a keyframe are spread out, and audio does not wait behind them")
  func keyframe() throws {
    var call = SessionCall()
    call.source?.keyframeBytes = 60_000
    call.run(for: .seconds(1))
    let keyframe = call.alice.rtp.filter { $0.packet.ssrc == Negotiated.aliceVideo }.prefix(50)
    #expect(try #require(keyframe.last).time - (try #require(keyframe.first)).time > .milliseconds(60))
    for (position, sent) in keyframe.enumerated() where position >= 3 {
      let before = keyframe.count { $0.time <= sent.time && $0.time > sent.time - .milliseconds(5) }
      #expect(before <= 8)
    }
    let audio = call.alice.rtp.filter { $0.packet.ssrc == Negotiated.aliceAudio }
    for (number, sent) in audio.enumerated() {
      #expect(sent.time - call.start == .milliseconds(20 * number))
    }
  }

  @Test(
    "no packet exceeds 1,200 bytes, including retransmissions, and each has a mid and a transport-wide sequence number")
  func packets() throws {
    var call = SessionCall(seed: 3, toBob: .init(loss: 0.1, delay: .milliseconds(20)))
    call.run(for: .seconds(5))
    #expect(call.alice.rtp.count { $0.packet.ssrc == Negotiated.aliceRepair } > 0)
    for (_, packet) in call.alice.rtp {
      #expect(packet.byteCount <= 1_200)
      #expect(packet.extensions.text(4) == (packet.ssrc == Negotiated.aliceAudio ? "0" : "1"))
      #expect(packet.extensions.transportSequenceNumber(3) != nil)
      #expect(packet.extensions.absoluteSendTime(2) != nil)
      #expect(
        packet.payloadType
          == (packet.ssrc == Negotiated.aliceAudio ? 111 : packet.ssrc == Negotiated.aliceVideo ? 96 : 97))
    }
    let largest = call.alice.rtp.map(\.packet.byteCount).max()
    #expect(try #require(largest) > 1_150)
  }

  @Test("the absolute send time in each packet is that of the wall clock")
  func sendTimes() throws {
    var call = SessionCall()
    call.run(for: .seconds(3))
    for (time, packet) in call.alice.rtp {
      let wall = SessionCall.wallClockAtStart + (time - call.start)
      #expect(packet.extensions.absoluteSendTime(2) == wall.absoluteSendTime)
    }
  }

  @Test("picture ids have 15 bits and increase by one with each frame")
  func pictureIDs() throws {
    var call = SessionCall()
    call.run(for: .seconds(3))
    var ids: [UInt16] = []
    for (_, packet) in call.alice.rtp where packet.ssrc == Negotiated.aliceVideo {
      var payload = packet.payload
      let descriptor = try VP8PayloadDescriptor(parsing: &payload)
      let id = try #require(descriptor.pictureID)
      #expect(id.isLong)
      if descriptor.startsFrame { ids.append(id.value) }
    }
    #expect(ids.count == call.played.count { $0.codec == .vp8 })
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $1 == ($0 + 1) & 0x7FFF })
  }

  @Test("audio and video of a source whose timestamps restart continue together at the current time")
  func restartedSource() throws {
    var call = SessionCall()
    call.run(for: .seconds(2))
    let before = call.now
    call.source = SyntheticSource(seed: 2, start: before)
    call.run(for: .seconds(2))
    call.settle()
    for codec in [Codec.opus, .vp8] {
      let times = call.bob.frames(codec).map(\.time)
      let steps = zip(times, times.dropFirst()).map { $1.duration(since: $0) }
      #expect(steps.allSatisfy { $0 > .zero && $0 < .milliseconds(50) })
      #expect(try #require(times.last).duration(since: try #require(times.first)) > .milliseconds(3_950))
    }
  }
}
