import Bitstream
import Foundation
import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("H.265 between two sessions")
struct H265CallTests {
  private static func media(retransmission: Bool = true) -> Negotiated {
    var media = Negotiated()
    media.video = .h265
    media.retransmission = retransmission
    return media
  }

  /// A source that makes keyframes, so that no group of pictures is replayed.
  private static var configuration: MediaSession.Configuration {
    var configuration = MediaSession.Configuration()
    configuration.sending.keyframeResponse = .requestFromSource
    return configuration
  }

  /// Plays a stream at 30 frames a second, again and again.
  private static func play(_ count: Int, of stream: [ByteBuffer], in call: inout SessionCall) {
    call.source = nil
    let before = call.played.count { $0.codec == .h265 }
    for number in before..<before + count {
      let payload = stream[number % stream.count]
      let header = FrameHeader(parsing: payload, of: .h265)
      call.give(
        EncodedFrame(
          owner: ParticipantID("source"), codec: .h265, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
          payload: payload, isKeyframe: header.isKeyframe, size: header.video?.size, arrival: call.now.instant))
      call.run(for: .nanoseconds(33_333_333))
    }
  }

  @Test(
    "at 5 % loss and in another order, with retransmission, at least 99.9 % of the frames arrive, byte for byte",
    arguments: [true, false])
  func loss(retransmission: Bool) throws {
    let stream = try H265Stream.make(seconds: 4, options: "bframes=0:keyint=60:bitrate=800")
    let line = Impairment.Conditions(loss: 0.05, delay: .milliseconds(25), reorder: 0.02)
    var call = SessionCall(
      seed: 11, toBob: line, toAlice: line, media: Self.media(retransmission: retransmission),
      configuration: Self.configuration)
    Self.play(1_800, of: stream.frames, in: &call)
    call.toBob.conditions.loss = 0
    Self.play(10, of: stream.frames, in: &call)
    call.settle()
    let sent = call.played.filter { $0.codec == .h265 }.map(\.payload)
    let received = call.bob.frames(.h265)
    let counts = try #require(call.bob.session.receiveStatistics[.video])
    print(
      "measured: H.265, 5 % loss, \(retransmission ? "RTX" : "plain"): \(received.count) of \(sent.count) frames,",
      "\(counts.packetsRecovered) packets recovered, \(counts.packetsLost) lost")
    #expect(received.count >= 1_808)
    #expect(counts.packetsRecovered > 100)
    // What arrives is a subsequence of what was sent.
    var rest = sent[...]
    for frame in received {
      guard let position = rest.firstIndex(of: frame.payload) else {
        Issue.record("A frame arrived that was not sent, or too late.")
        break
      }
      rest = rest[(position + 1)...]
    }
    expectAll(received) { $0.isKeyframe == ($0.size == VideoSize(width: 320, height: 240)) }
  }

  @Test("ffmpeg decodes what arrives after losses that are not repaired, without errors, one picture for each frame")
  func unrepaired() throws {
    // Groups of frames begin with CRA pictures, which have leading pictures.
    let stream = try H265Stream.make(seconds: 4, options: "bframes=2:b-adapt=0:keyint=15:min-keyint=15:scenecut=0")
    let types = stream.frames.compactMap { try? H265FrameHeader(parsing: $0).type }
    #expect(types.contains(.cleanRandomAccess) && types.contains { $0.isSkippedLeading })
    var media = Self.media()
    media.nack = false
    media.retransmission = false
    var call = SessionCall(seed: 3, media: media, configuration: Self.configuration)
    var count = 0
    call.carriesRTP = { packet in
      if packet.ssrc == Negotiated.aliceVideo { count += 1 }
      return packet.ssrc != Negotiated.aliceVideo || count % 61 != 40
    }
    Self.play(119, of: stream.frames, in: &call)
    call.settle()
    let received = call.bob.frames(.h265).map(\.payload)
    #expect(received.count > 20 && received.count < 119)
    let decoded = try H265Stream.decode(received)
    #expect(decoded.count == received.count * 320 * 240 * 3 / 2)
  }
}
