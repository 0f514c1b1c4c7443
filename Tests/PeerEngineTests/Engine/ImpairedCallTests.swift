import Media
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

@Suite("A whole call over an impaired network")
struct ImpairedCallTests {
  static let usual = Impairment.Conditions(delay: .milliseconds(25))

  @Test(
    "a call connects and delivers every frame with 1, 5 or 10 % loss from the first check on",
    arguments: [0.01, 0.05, 0.1], [1, 2] as [UInt64])
  func lossFromTheStart(share: Double, seed: UInt64) throws {
    let line = Impairment.Conditions(loss: share, delay: .milliseconds(25))
    var pair = try EnginePair(seed: seed, bobSends: [], line: line)
    try pair.connect(within: .seconds(8))
    print("measured: connected after \(pair.now - pair.start) at \(share) loss, seed \(seed)")
    pair.setBandwidth(line, seed: seed)
    pair.play(seed: seed)
    pair.run(for: .seconds(5))
    try settle(&pair, allVideoFrames: true)
  }

  @Test("a call connects and delivers every frame when losses occur in bursts", arguments: [0.05, 0.1])
  func burstsFromTheStart(share: Double) throws {
    var line = Self.usual
    line.loss = share
    line.burst = 4
    var pair = try EnginePair(seed: 8, bobSends: [], line: line)
    try pair.connect(within: .seconds(8))
    pair.setBandwidth(line, seed: 8)
    pair.play()
    pair.run(for: .seconds(10))
    try settle(&pair, allVideoFrames: true)
  }

  @Test("a call connects with 30 % loss, and in 60 s no undecodable frame is delivered")
  func heavyLoss() throws {
    let line = Impairment.Conditions(loss: 0.3, delay: .milliseconds(25))
    var pair = try EnginePair(seed: 7, bobSends: [], line: line)
    try pair.connect(within: .seconds(20))
    let connected = pair.now - pair.start
    pair.setBandwidth(line, seed: 7)
    pair.play()
    pair.run(for: .seconds(60))
    let sent = try settle(&pair, allVideoFrames: false)
    let out = pair.bob.frames.payloads(.vp8).count
    #expect(Double(out) > Double(sent.payloads(.vp8).count) * 0.98)
    print(
      "measured: 30 % loss for 60 s: connected after \(connected), \(out) of \(sent.payloads(.vp8).count) frames,",
      "\(pair.bob.frames.payloads(.opus).count) of \(sent.payloads(.opus).count) audio packets")
  }

  @Test(
    "jitter, reordering and duplication do not change the delivered frames", arguments: [1, 2] as [UInt64])
  func disorder(seed: UInt64) throws {
    var line = Impairment.Conditions(
      delay: .milliseconds(25), jitter: .milliseconds(15), reorder: 0.1, duplicate: 0.05)
    line.reorderDelay = .zero ... .milliseconds(60)
    var pair = try EnginePair(seed: seed, bobSends: [], line: line)
    try pair.connect()
    pair.setBandwidth(line, seed: seed)
    pair.play()
    pair.run(for: .seconds(10))
    let sent = try settle(&pair, allVideoFrames: true)
    expectSame(pair.bob.frames.payloads(.opus), sent.payloads(.opus))
  }

  /// Removes the loss, stops sending, and expects that the delivered frames are those that were sent.
  @discardableResult
  private func settle(_ pair: inout EnginePair, allVideoFrames: Bool) throws -> [EncodedFrame] {
    pair.setBandwidth(Self.usual, seed: 99)
    pair.run(for: .milliseconds(200))
    let sent = pair.stopPlaying().fromAlice
    pair.run(for: .seconds(4))
    pair.bob.expectUnbroken(sent)
    #expect(pair.areConnected)
    if allVideoFrames { expectSame(pair.bob.frames.payloads(.vp8), sent.payloads(.vp8)) }
    return sent
  }
}
