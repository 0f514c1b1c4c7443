import Media
import NIOCore
import RTP
import TestSupport
import Testing

@testable import PeerEngine

@Suite("Sequence numbers that wrap around during the call")
struct RolloverTests {
  @Test(
    "media continues without a gap for every protection profile, also with loss and reordering",
    arguments: SRTPProfile.allCases, [0, 0.1])
  func wrap(profile: SRTPProfile, loss: Double) throws {
    var line = LossyLink.Conditions(loss: loss, delay: .milliseconds(25))
    if loss > 0 {
      line.reordering = 0.1
      line.reorderingDelay = .milliseconds(60)
    }
    var pair = try EnginePair(seed: 6, bobSends: [], line: .init(delay: .milliseconds(25)), profiles: [profile])
    try pair.connect()
    #expect(pair.bob.engine.statistics.protectionProfile == profile.description)
    for track in pair.alice.engine.media.sending.indices {
      Self.advance(&pair.alice.engine.media.sending[track], to: 65_400)
    }
    pair.setBandwidth(line, seed: 6)
    pair.play()
    pair.run(for: .seconds(5))
    pair.setBandwidth(.init(delay: .milliseconds(25)), seed: 7)
    pair.run(for: .milliseconds(200))
    let sent = pair.stopPlaying().fromAlice
    pair.run(for: .seconds(4))
    for track in pair.alice.engine.media.sending {
      var track = track
      #expect(Self.nextNumber(&track) < 32_768)
    }
    pair.bob.expectUnbroken(sent)
    expectSame(pair.bob.frames.payloads(.vp8), sent.payloads(.vp8))
    print(
      "measured: across SRTP's rollover, \(profile), \(Int(loss * 100)) % loss:",
      "\(pair.bob.frames.payloads(.vp8).count) of \(sent.payloads(.vp8).count) frames")
    if loss == 0 { expectSame(pair.bob.frames.payloads(.opus), sent.payloads(.opus)) }
  }

  /// Advances a track's sequence numbers until the next one is `number`.
  private static func advance(_ track: inout SendTrack, to number: UInt16) {
    while nextNumber(&track) != number &- 1 {}
  }

  private static func nextNumber(_ track: inout SendTrack) -> UInt16 {
    var packet = track.stream.packet(ByteBuffer(), ticks: 0, marker: false)
    track.stream.number(&packet)
    return packet.sequenceNumber
  }
}
