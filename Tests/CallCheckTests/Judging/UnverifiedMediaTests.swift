import CallCheck
import CallCheckTestSupport
import CallReport
import Foundation
import Media
import MediaWorker
import NIOCore
import TestSupport
import Testing

@Suite("Media that no process decodes")
struct UnverifiedMediaTests {
  private static let reason = "/nowhere/chatbot-media cannot be started: No such file or directory."

  /// A call of 5 s whose video is H.264, and whose audio is Opus or G.722, without the program that decodes them.
  private func report(
    audio: Codec = .opus, _ rules: [String] = [],
    launcher: MediaLauncher = MediaLauncher(path: "/nowhere/chatbot-media")
  ) throws -> CheckReport {
    var options = SyntheticCall().options
    options.launcher = launcher
    options.expected = CheckExpectation(audio: true, video: true)
    options.rules = RuleList(try rules.map { try Rule($0) })
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.2))
    judge.receive(.step(.appeared), of: SyntheticCall.peer, at: SyntheticCall.instant(0.3))
    let frames = try H264Stream.make(size: "64x48", seconds: 4, ["-c:v", "libx264", "-bf", "0", "-g", "30"]).frames
    var call = SyntheticCall()
    call.duration = 5
    call.hasVideo = false
    for event in try call.participantEvents() {
      guard case .frame(var frame) = event.event else { continue }
      if audio == .g722 {
        let time = frame.time.ticks / 6
        frame = EncodedFrame(
          owner: frame.owner, codec: .g722, time: MediaTime(ticks: time, rate: 8_000),
          payload: ByteBuffer(repeating: 7, count: 160), isKeyframe: true, arrival: SyntheticCall.instant(event.time))
      }
      judge.receive(frame, from: SyntheticCall.peer, at: SyntheticCall.instant(event.time))
    }
    for (index, payload) in frames.enumerated() {
      let time = 1 + Double(index) / 30
      let frame = EncodedFrame(
        owner: SyntheticCall.peer, codec: .h264, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000),
        payload: payload, isKeyframe: index % 30 == 0, arrival: SyntheticCall.instant(time))
      judge.receive(frame, from: SyntheticCall.peer, at: SyntheticCall.instant(time))
    }
    return judge.report(at: SyntheticCall.instant(5))
  }

  @Test("is counted as unverified, and is no decode error")
  func counts() throws {
    let report = try report(audio: .g722)
    let peer = try #require(report.peers.first)
    let unverified = try #require(peer.unverified)
    #expect(unverified.videoFrames == 120 && unverified.audioPackets > 150 && unverified.reason == Self.reason)
    #expect(peer.undecoded == nil && peer.undecodedReason == nil && peer.video == nil && peer.audio == nil)
    #expect(
      peer.progress.hasPrefix("Media packets arrived, but they could not be decoded here: /nowhere/chatbot-media"))
    let sentence = try #require(report.limitations.first)
    #expect(
      sentence.hasPrefix("Of peer-1, 120 frames and \(unverified.audioPackets) audio packets were not decoded here"))
    for text in [report.table(width: 200), HTMLReport(report).text, report.junit] { #expect(text.contains("/nowhere")) }
    #expect(try CheckReport(parsing: Array(report.json.utf8)).peers.first?.unverified == unverified)
  }

  @Test("makes rules about its content inconclusive, and the others hold")
  func rules() throws {
    let content = ["video.fps >= 1", "video.decodeErrors == 0", "video.firstFrame <= 5s", "video.bitrate >= 1kbit"]
    let others = ["audio.silence <= 1s", "audio.decodeErrors == 0", "peers >= 1", "video.codec == h264"]
    let report = try report(content + others)
    for rule in content {
      let result = try #require(report.result(rule))
      #expect(result.outcome == .inconclusive, "\(rule)")
      #expect(result.sentence.contains("120 frames were not decoded here: /nowhere/chatbot-media cannot be started"))
    }
    for rule in others { #expect(report.result(rule)?.outcome == .held, "\(rule)") }
    #expect(report.verdict == .inconclusive)
    #expect(report.summary.contains("because this machine could not decode everything"))
  }

  @Test("is no reason to wait for a peer, or to say that nobody was there")
  func presence() throws {
    let report = try report(audio: .g722, ["peers >= 1", "video.fps >= 1"])
    #expect(report.result("peers >= 1")?.outcome == .held)
    #expect(report.verdict == .inconclusive)
    #expect(report.mediaFrom == 1)
  }

  private static func workers(of launcher: MediaLauncher) -> [Int32] {
    guard let id = launcher.id,
      let text = try? String(contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8)
    else { return [] }
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  @Test("a sender that alternates codecs costs a check no further process")
  func alternating() throws {
    let launcher = MediaLauncher()
    var options = SyntheticCall().options
    options.launcher = launcher
    let judge = CallJudge(options)
    let frame = try H264Stream.make(size: "64x48", seconds: 0.1, ["-c:v", "libx264", "-bf", "0"]).frames[0]
    var other = try NumberedVideoFrames(count: 1).frame(0, at: 1)
    other.isKeyframe = true
    var processes: Set<Int32> = []
    for index in 0..<20 {
      let time = SyntheticCall.instant(1 + Double(index) / 30)
      let keyframe = EncodedFrame(
        owner: SyntheticCall.peer, codec: .h264, time: MediaTime(ticks: Int64(index) * 6_000, rate: 90_000),
        payload: frame, isKeyframe: true, arrival: time)
      judge.receive(keyframe, from: SyntheticCall.peer, at: time)
      judge.receive(other, from: SyntheticCall.peer, at: time)
      processes.formUnion(Self.workers(of: launcher))
    }
    #expect(processes.count == 1)
    #expect(judge.report(at: SyntheticCall.instant(3)).peers.first?.video?.frames == 40)
  }
}
