import CallCheck
import CallReport
import Testing

@Suite("the state of a running check as text")
struct CheckStatusTextTests {
  private let span = Duration.seconds(20)

  private func peer(
    _ id: String, _ reached: CallProgress = .media, isGone: Bool = false, level: Double? = nil
  ) -> CheckStatus.Peer {
    CheckStatus.Peer(
      id: id, reached: reached, progress: "ICE is connected", isGone: isGone, fps: 29.6, bitrate: 1_234_567,
      level: level)
  }

  @Test("before media flows it says what it waits for, and then for how long it judges")
  func sentences() {
    let waiting = CheckStatus(elapsed: 3.4, mediaElapsed: nil, peers: [], pending: ["1 more peer", "audio of b\u{7}"])
    #expect(waiting.sentence(of: span) == "check: waiting for 1 more peer, audio of b\u{FFFD}")
    #expect(
      waiting.lines(of: "100\n", judgingFor: span)
        == ["check of room 100\u{FFFD}, 3 s: waiting for 1 more peer, audio of b\u{FFFD}"])
    let judging = CheckStatus(elapsed: 9, mediaElapsed: 31, peers: [], pending: [])
    #expect(judging.sentence(of: span) == "check: media flows, judging for 20 s")
    #expect(judging.lines(of: "100", judgingFor: span) == ["check of room 100, 9 s: judging, 20 s of 20 s"])
  }

  @Test("each of the first eight peers has a line with its media, its progress, or that it left")
  func peers() {
    let first = [peer("3f2a91c0-1111", level: -23.4), peer("b", .iceConnected), peer("c", isGone: true), peer("d")]
    let status = CheckStatus(
      elapsed: 9, mediaElapsed: 1, peers: first + (0..<9).map { peer("\($0)") }, pending: [])
    let lines = status.lines(of: "100", judgingFor: span)
    #expect(lines.count == 9)
    #expect(
      lines.dropFirst().prefix(4) == [
        "  3f2a91c0  30 fps, 1235 kb/s, -23 dB", "  b  ICE is connected", "  c  left", "  d  30 fps, 1235 kb/s",
      ])
  }
}
