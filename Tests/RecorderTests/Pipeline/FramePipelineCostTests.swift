import Codecs
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Cost of a frame pipeline")
struct FramePipelineCostTests {
  @Test("without verification nothing is decoded, and a user costs hardly any CPU time")
  func cost() throws {
    let seconds = 300
    let tone = try TestMedia.tone(1)
    let videoFrames = try TestMedia.videoFrames(1)
    let pipeline = FramePipeline(alignmentDelay: .seconds(3), verification: nil)
    var timestamped = 0
    let owner = ParticipantID("anna")
    let spent = ProcessorTime.measure {
      for second in 0..<seconds {
        for index in 0..<50 {
          let at = Script.beginning + .seconds(second) + .milliseconds(index * 20)
          let time = MediaTime(ticks: Int64(second) * 48_000 + Int64(index) * 960, rate: 48_000)
          pipeline.receive(
            .frame(
              EncodedFrame(
                owner: owner, codec: .opus, time: time, payload: tone[index].payload, isKeyframe: true, arrival: at)),
            now: at)
        }
        for index in 0..<30 {
          let at = Script.beginning + .seconds(second) + .milliseconds(index * 33)
          let time = MediaTime(ticks: Int64(second) * 90_000 + Int64(index) * 3_000, rate: 90_000)
          pipeline.receive(
            .frame(
              EncodedFrame(
                owner: owner, codec: .vp8, time: time, payload: videoFrames[index].payload, isKeyframe: false,
                arrival: at)
            ),
            now: at)
          timestamped += pipeline.release(now: at).count
        }
      }
    }
    timestamped += pipeline.release(now: Script.beginning + .seconds(seconds + 1), everything: true).count
    #expect(timestamped == 80 * seconds)
    let share = spent / .seconds(seconds) * 100
    print("measured: the pipeline of one user costs \((share * 1_000).rounded() / 1_000) % of a core")
    // Decoding alone would take 3 % in a release build.
    #expect(share < 3)
  }
}
