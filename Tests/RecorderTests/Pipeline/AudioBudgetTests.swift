import Codecs
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Audio that exceeds real time")
struct AudioBudgetTests {
  /// A second of packets, each with its own numbers and timestamps.
  ///
  /// - Parameters:
  ///   - ticks: the distance between timestamps.
  ///   - lost: the number of packets that seem to be missing before each.
  private func script(ticks: Int64, lost: Int, copies: Int = 1) throws -> Script {
    var script = Script()
    for (index, piece) in try SpeechSamples.packets(1, correctsErrors: true).enumerated() {
      for copy in 0..<copies {
        let at = Double(index) / 50
        script.add(
          .frame(
            EncodedFrame(
              owner: script.owner, codec: .opus,
              time: MediaTime(ticks: Int64(index * copies + copy) * ticks, rate: 48_000), payload: piece.payload,
              isKeyframe: true, arrival: Script.beginning + .seconds(at),
              gap: index > 0 && lost > 0 ? MediaGap(.lost, packetsLost: lost) : nil)), at: at)
      }
    }
    return script
  }

  @Test("a gap of 5 s before each of 50 packets a second makes a file of 6 s and costs the recorder no work")
  func endlessHoles() async throws {
    let folder = TestFolder()
    let script = try script(ticks: 240_000, lost: 249)
    let summary = try #require(try await folder.record(script).first)
    let track = try #require(summary.track(.audio))
    let made = (track.concealed ?? 0) + (track.repairedByFEC ?? 0)
    // The second that cannot be distinguished from a slow start.
    #expect(made <= 52)
    let length = try Reader(path: "\(folder.path)/anna.ogg").probe().format.seconds
    #expect(length < 6.2)
    #expect(track.duration < 6.2)
    // Without a limit there are 12,250, of some 30 ms of work each.
    print("measured: 1 s of packets with 5 s lost before each: \(length) s of Ogg, \(made) packets made")
  }

  @Test("50 s of packets in a second make a file of 7 s, and the rest is counted as rejected")
  func tooMuchAudio() async throws {
    let folder = TestFolder()
    let summary = try #require(try await folder.record(script(ticks: 960, lost: 0, copies: 50)).first)
    let track = try #require(summary.track(.audio))
    #expect(track.frames + track.refused == 2_500)
    let length = try Reader(path: "\(folder.path)/anna.ogg").probe().format.seconds
    #expect(length < 7.2, "a second, the second by which it may be ahead from the first packet on, and 5 s more")
  }

  @Test("a late burst of packets is recorded completely, and its gaps are filled", arguments: [0.4, 3, 20])
  func burst(delay: Double) throws {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    let pieces = try SpeechSamples.packets(24, correctsErrors: true)
    let held = 50..<(50 + Int(delay * 50))
    for (index, piece) in pieces.enumerated() where !held.contains(index) || index % 10 != 0 {
      let captured = Double(index) / 50
      let at = Script.beginning + .seconds(held.contains(index) ? 1 + delay : captured)
      let follows = !held.contains(index - 1) || (index - 1) % 10 != 0
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: piece.ticks, rate: 48_000),
            payload: piece.payload, isKeyframe: true, arrival: at,
            gap: follows ? nil : MediaGap(.lost, packetsLost: 1))), now: at)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(30), everything: true)
    let track = try #require(pipeline.tracks(clock: WallClock(moment: Script.beginning, secondsSince1970: 0)).first)
    #expect(track.refused == 0 && track.frames == UInt64(pieces.count))
  }

  @Test("a sender whose clock runs 1,000 ppm fast for ten hours still has 5 s of repair budget at the end")
  func fastClock() {
    var budget = AudioBudget()
    var isTaken = true
    for index in 0..<1_800_000 {
      isTaken = budget.take(.milliseconds(20), arrival: Script.beginning + .microseconds(index * 19_980)) && isTaken
    }
    #expect(isTaken && budget.room > LossConcealment.maximumDuration)
  }
}
