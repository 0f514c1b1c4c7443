import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Sequence numbers that wrap around during the call")
struct RolloverTests {
  @Test(
    "media continues without a gap for every protection profile, also with loss and reordering",
    arguments: SRTPProfile.allCases, [0, 0.1])
  func wrap(profile: SRTPProfile, loss: Double) throws {
    var line = Impairment.Conditions(loss: loss, delay: .milliseconds(25))
    if loss > 0 {
      line.reorder = 0.1
      line.reorderDelay = .zero ... .milliseconds(60)
    }
    var pair = try EnginePair(seed: 6, bobSends: [], line: .init(delay: .milliseconds(25)), profiles: [profile])
    try pair.connect()
    #expect(pair.bob.engine.statistics.protectionProfile == profile.description)
    pair.alice.engine.advanceSequenceNumbers(to: 65_400)
    pair.setBandwidth(line, seed: 6)
    pair.play()
    pair.run(for: .seconds(5))
    pair.setBandwidth(.init(delay: .milliseconds(25)), seed: 7)
    pair.run(for: .milliseconds(200))
    let sent = pair.stopPlaying().fromAlice
    pair.run(for: .seconds(4))
    #expect(pair.alice.engine.nextSequenceNumbers.allSatisfy { $0 < 32_768 })
    pair.bob.expectUnbroken(sent)
    expectSame(pair.bob.frames.payloads(.vp8), sent.payloads(.vp8))
    print(
      "measured: across SRTP's rollover, \(profile), \(Int(loss * 100)) % loss:",
      "\(pair.bob.frames.payloads(.vp8).count) of \(sent.payloads(.vp8).count) frames")
    if loss == 0 { expectSame(pair.bob.frames.payloads(.opus), sent.payloads(.opus)) }
  }
}
