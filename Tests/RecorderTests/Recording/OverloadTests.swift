import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// Recordings on a machine without time for them.
@Suite("A recorder without CPU time")
struct OverloadTests {
  @Test("frames that do not fit into the memory are a gap with the reason overloaded, and the disk is not blamed")
  func noTime() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(10)
    let recorder = try folder.recorder(memoryLimit: 128 << 10)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 1)
    // The recorder processes nothing of these events.
    let (begin, end) = (Script.beginning + .seconds(1), Script.beginning + .seconds(7))
    for entry in script.inOrder where entry.at > begin && entry.at <= end {
      recorder.receive(entry.event, of: script.owner, now: entry.at)
    }
    await recorder.drain()
    await folder.play([script], to: recorder, from: 7.000_001)
    let manifest = try #require(await recorder.finish(now: Script.beginning + .seconds(10)).first).manifest
    let written = BlockReader(try folder.bytes("anna.webm")).payloads(.vp8).count
    let dropped = Int(manifest.overload?.framesDropped ?? 0)
    let missing = script.payloads(.vp8).count - written
    #expect(dropped > 0 && dropped == missing)
    #expect(manifest.disk == nil && manifest.memory == nil)
    let video = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(video.gapTotals["overloaded"]?.frames == UInt64(dropped))
    #expect(video.gapTotals["diskStalled"] == nil)
    let problems = await recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.stalled, .overloaded, .resumed], "\(problems)")
    #expect(problems.last?.sentence == "The processor has time to record again after 5 s; recording continues.")
    let isDiskNamed = problems.contains { $0.sentence.contains("disk") }
    #expect(!isDiskNamed, "\(problems)")
  }

  @Test("the disk is the cause while it fails, in a slow call, and for a while after one")
  func monitor() {
    let monitor = DiskMonitor()
    let start = MonotonicInstant.now
    func isCause(_ seconds: Double) -> Bool { monitor.isCause(at: start + .seconds(seconds)) }
    #expect(!isCause(0))
    monitor.callBegan(at: start)
    #expect(!isCause(0.1) && isCause(0.2))
    monitor.callEnded(at: start + .milliseconds(100))
    #expect(!isCause(0.3))
    monitor.callBegan(at: start + .seconds(1))
    monitor.callEnded(at: start + .seconds(2))
    #expect(isCause(2) && isCause(6.9) && !isCause(7))
    monitor.setFailing(true)
    #expect(isCause(100))
    monitor.setFailing(false)
    #expect(!isCause(100))
  }

  @Test(
    "the disk is also the cause when short calls take most of the time", arguments: [(0.9, true), (0.5, false)])
  func shortCalls(share: Double, isCause: Bool) {
    let monitor = DiskMonitor()
    let start = MonotonicInstant.now
    for number in 0..<80 {
      let begin = start + .milliseconds(100 * number)
      monitor.callBegan(at: begin)
      monitor.callEnded(at: begin + .seconds(0.1 * share))
    }
    let isNamed = monitor.isCause(at: start + .seconds(8))
    #expect(isNamed == isCause)
    let isNamedLater = monitor.isCause(at: start + .seconds(10))
    #expect(!isNamedLater)
  }
}
