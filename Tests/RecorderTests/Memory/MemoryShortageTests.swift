import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// Recordings for which the memory for queued frames is short although the disk and the processor keep up.
@Suite("Recordings for which memory is short")
struct MemoryShortageTests {
  /// A user who sends about 100 kb/s in 10 video frames and 17 packets of audio each second.
  ///
  /// - Parameters:
  ///   - begin: when they join, in seconds.
  ///   - reports: when their sender reports arrive, in seconds.
  private func user(_ name: String, from begin: Double = 0, seconds: Double, reports: [Double]) throws -> Script {
    var script = Script(name)
    let frames = try TestMedia.videoFrames(seconds, keyframeEvery: 30).enumerated().filter { $0.offset % 3 == 0 }
    script.add(frames.map(\.element), codec: .vp8, begin: begin)
    // 60 ms of SILK in narrow band (RFC 6716, 3.1).
    let packet = ByteBuffer(bytes: [0x18] + [UInt8](repeating: 5, count: 60))
    script.add(
      (0..<Int(seconds / 0.06)).map { .init(ticks: Int64($0) * 2_880, payload: packet) }, codec: .opus, begin: begin)
    script.addReports(.opus, at: reports, begin: begin)
    script.addReports(.vp8, at: reports.map { $0 + 0.05 }, begin: begin)
    return script
  }

  private func video(_ name: String, of summaries: [RecordingSummary]) throws -> RecordingManifest.Track {
    try #require(summaries.first { $0.participant.text == name }?.track(.video))
  }

  @Test("90 users who join together and whose sender reports come late lose nothing: their alignment does not wait")
  func manyAtOnce() async throws {
    let (folder, limit) = (TestFolder(), 900 << 10)
    let recorder = try folder.recorder(verifies: false, memoryLimit: limit, disk: ScriptedDisk())
    let users = try (0..<90).map { number in
      try user(
        "user \(number)", from: Double(number) / 100, seconds: 3.4,
        reports: [2.6, 3.1].map { delay in delay + Double(number) / 200 })
    }
    for user in users { recorder.begin(user.owner, now: Script.beginning, wallClock: TestFolder.wallClock) }
    await folder.play(users, to: recorder, until: 2.2)
    // Without the early end, no frame has a position before the sender reports, or 3 s. Those who hold the most come
    // first.
    let early = recorder.status().filter { $0.duration > .milliseconds(500) }.count
    #expect(early > 60)
    let last = await folder.play(users, to: recorder, from: 2.200_001)
    let summaries = await recorder.finish(now: last)
    print("measured: \(recorder.peakMemory >> 10) of \(limit >> 10) KiB of memory for 90 users")
    #expect(recorder.peakMemory < limit)
    #expect(summaries.count == 90)
    for (user, summary) in zip(users.sorted { $0.owner.text < $1.owner.text }, summaries) {
      #expect(summary.track(.video)?.frames == UInt64(user.payloads(.vp8).count), "\(summary.participant)")
      #expect(summary.track(.audio)?.frames == UInt64(user.payloads(.opus).count), "\(summary.participant)")
      #expect(summary.manifest.memory == nil && summary.manifest.overload == nil && summary.manifest.disk == nil)
      #expect(summary.manifest.alignment.source == "senderReports" && summary.manifest.alignment.reports == 4)
    }
    let problems = await recorder.allProblems()
    #expect(problems.isEmpty, "\(problems)")
  }

  @Test("a user who floods the memory ends no wait of others, and loses nothing while the disk keeps up")
  func flooder() async throws {
    let (folder, limit) = (TestFolder(), 8 << 20)
    let recorder = try folder.recorder(verifies: false, memoryLimit: limit, disk: ScriptedDisk())
    let honest = try (0..<10).map { try user("user \($0)", seconds: 3.5, reports: [2.6, 3.2]) }
    var keyframe = try #require(try TestMedia.videoFrames(0.1).first?.payload)
    keyframe.writeRepeatingByte(0, count: 160_000)
    var flood = Script("flooder")
    flood.add(
      (0..<105).map { .init(ticks: Int64($0) * 3_000, payload: keyframe, isKeyframe: true) }, codec: .vp8)
    let all = honest + [flood]
    for script in all { recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock) }
    await folder.play(all, to: recorder, until: 2.5)
    let waiting = recorder.status().filter { $0.duration == .zero }.count
    #expect(waiting == 10)
    let last = await folder.play(all, to: recorder, from: 2.500_001)
    let summaries = await recorder.finish(now: last)
    #expect(recorder.peakMemory < limit)
    for script in all {
      #expect(try video(script.owner.text, of: summaries).frames == UInt64(script.payloads(.vp8).count))
    }
    let problems = await recorder.allProblems()
    #expect(problems.isEmpty, "\(problems)")
  }

  @Test("more than the memory holds at once is a gap memoryFull of the user who sent it, with its own sentence")
  func burst() async throws {
    let (folder, limit) = (TestFolder(), 2 << 20)
    let recorder = try folder.recorder(verifies: false, memoryLimit: limit, disk: ScriptedDisk())
    let honest = try (0..<4).map { try user("user \($0)", seconds: 4, reports: [1, 2]) }
    var frame = try #require(try TestMedia.videoFrames(0.1).first?.payload)
    frame.writeRepeatingByte(0, count: 100_000)
    let pieces = (0..<120).map { TestMedia.Piece(ticks: Int64($0) * 3_000, payload: frame, isKeyframe: $0 % 60 == 0) }
    var flood = Script("flooder")
    // The second second arrives at once.
    flood.add(pieces, codec: .vp8) { (30..<60).contains($0) ? 2 - Double($0) / 30 : 0.01 }
    let all = honest + [flood]
    for script in all { recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock) }
    let last = await folder.play(all, to: recorder)
    let summaries = await recorder.finish(now: last)
    #expect(recorder.peakMemory <= limit)
    let manifest = try #require(summaries.first { $0.participant.text == "flooder" }).manifest
    let track = try video("flooder", of: summaries)
    let dropped = manifest.memory?.framesDropped ?? 0
    #expect(dropped > 5 && track.frames + dropped == 120)
    #expect(track.gapTotals["memoryFull"]?.frames == dropped)
    #expect(manifest.overload == nil && manifest.disk == nil)
    for script in honest {
      #expect(try video(script.owner.text, of: summaries).frames == UInt64(script.payloads(.vp8).count))
    }
    let problems = await recorder.allProblems()
    #expect(problems.map(\.kind) == [.memoryFull], "\(problems)")
    #expect(
      problems.first?.sentence
        == "The disk and the processor keep up, but more arrives at once than fits: the 2 MiB of memory for queued "
        + "frames are full, and video, and then audio, is dropped until there is space again. "
        + "A higher limit avoids this.")
  }

  @Test("tracks that are aligned early are corrected by sender reports that come later")
  func laterReports() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    func moment(_ seconds: Double) -> MonotonicInstant { Script.beginning + .seconds(seconds) }
    var apart = Duration.zero
    for index in 0..<1_000 {
      let (captured, rate) = (Double(index) / 50, { (codec: Codec) in Double(codec.clockRate) })
      for (codec, delay) in [(Codec.opus, 0.0), (.vp8, 0.1)] {
        let time = MediaTime(ticks: Int64(captured * rate(codec)), rate: codec.clockRate)
        timeline.add(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: codec, time: time, payload: ByteBuffer(repeating: 7, count: 10),
            isKeyframe: true, arrival: moment(captured + delay)),
          now: moment(captured + delay))
        // Reports come each second, the first ones after 5 s.
        guard index >= 250, index % 50 == 0 else { continue }
        timeline.add(
          ClockReport(
            owner: ParticipantID("anna"), codec: codec, time: time,
            ntp: UInt64((3_900_000_000 + captured) * 4_294_967_296), arrival: moment(captured + delay)))
      }
      if index == 10 {
        #expect(timeline.release(now: moment(captured + 0.1)).isEmpty)
        timeline.endAlignment(now: moment(captured + 0.1))
      }
      for timestamped in timeline.release(now: moment(captured + 0.1)) {
        apart = timestamped.position - .seconds(timestamped.frame.time.seconds)
        if index == 10 { #expect(timeline.alignment.source == .arrivals) }
      }
    }
    // Video was placed 100 ms late by its arrivals; in the end both tracks are where their sender says.
    #expect(timeline.alignment.source == .senderReports)
    #expect(abs(apart.milliseconds) <= 40, "\(apart)")
  }
}
