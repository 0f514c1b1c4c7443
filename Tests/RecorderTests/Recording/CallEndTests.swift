import Foundation
import Media
import Recorder
import TestSupport
import Testing

@Suite("The end of a call, in its audio file")
struct CallEndTests {
  /// Records a call and ends it after the given time; returns the Ogg's length in seconds, according to ffprobe.
  private static func oggLength(_ script: Script, endedAt end: Double, reason: RecordingEndReason) async throws
    -> Double
  {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    recorder.begin(script.owner, name: nil, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    let moment = Script.beginning + .seconds(end)
    recorder.end(script.owner, reason: reason, now: moment)
    await recorder.finish(now: moment)
    let reader = Reader(path: "\(folder.path)/anna.ogg")
    #expect(try reader.complaints() == "")
    let about = try reader.opusinfo()
    #expect(!about.contains("WARNING") && !about.contains("ERROR"), "\(about)")
    return try reader.probe().format.seconds
  }

  private static func audio(_ seconds: Double) throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.tone(seconds), codec: .opus)
    return script
  }

  @Test("audio that stops before the video is extended to the video's end")
  func videoFramesGoOn() async throws {
    var script = try Self.audio(2)
    script.add(try TestMedia.videoFrames(5), codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    for reason in RecordingEndReason.allCases {
      let length = try await Self.oggLength(script, endedAt: 5.01, reason: reason)
      #expect(abs(length - 5) < 0.05, "\(reason)")
    }
  }

  @Test(
    "a call that ends in a DTX pause lasts until its end",
    arguments: [RecordingEndReason.left, .stopped])
  func pause(_ reason: RecordingEndReason) async throws {
    let length = try await Self.oggLength(Self.audio(2), endedAt: 2.36, reason: reason)
    #expect(abs(length - 2.35) < 0.02)
  }

  @Test("a sender report after the last packet shows that the call continued")
  func report() async throws {
    var script = try Self.audio(2)
    script.addReports(.opus, at: [0.5, 5])
    let length = try await Self.oggLength(script, endedAt: 5.5, reason: .left)
    #expect(abs(length - 5.49) < 0.02)
  }

  @Test("a participant who sent nothing for a while was in the call until the last packet")
  func lost() async throws {
    for (reason, end) in [(RecordingEndReason.connectionLost, 2.3), (.failed, 2.3), (.left, 4), (.stopped, 30)] {
      let length = try await Self.oggLength(Self.audio(2), endedAt: end, reason: reason)
      #expect(abs(length - 1.99) < 0.02, "\(reason)")
    }
  }

  @Test("audio that continues to the end is not extended by the network delay")
  func noPause() async throws {
    let length = try await Self.oggLength(Self.audio(2), endedAt: 2.04, reason: .left)
    #expect(abs(length - 2) < 0.001)
  }
}
