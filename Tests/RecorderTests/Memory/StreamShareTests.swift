import Media
import NIOCore
import TestSupport
import Testing

@testable import Recorder

/// What the streams of a participant share.
@Suite("Shares of a participant with several streams")
struct StreamShareTests {
  private let start = MonotonicInstant.now
  private let flooder = ParticipantID("flooder")
  private let anna = ParticipantID("anna")

  private func frame(_ owner: ParticipantID, stream: Int, _ index: Int, bytes: Int) -> MediaEvent {
    .frame(
      EncodedFrame(
        owner: owner, stream: stream, codec: .vp8, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000),
        payload: ByteBuffer(repeating: 7, count: bytes), isKeyframe: index % 30 == 0,
        arrival: start + .milliseconds(index)))
  }

  @Test("streams share the memory of their participant, and each is dropped up to a keyframe of its own")
  func memory() throws {
    let queue = RecordingQueue(budget: .fixed(1 << 20), disk: DiskMonitor())
    let clock = WallClock(moment: start, secondsSince1970: 0)
    for participant in [flooder, anna] { _ = queue.begin(participant, name: nil, clock: clock, now: start) }
    // Nothing is written meanwhile. The flooder sends ten streams, each as much as fits.
    for index in 0..<200 {
      let now = start + .milliseconds(index)
      for stream in 1...10 {
        _ = queue.receive(frame(flooder, stream: stream, index, bytes: 5_000), of: flooder, now: now)
      }
      _ = queue.receive(frame(anna, stream: 1, index, bytes: 200), of: anna, now: now)
      _ = queue.receive(frame(anna, stream: 2, index, bytes: 200), of: anna, now: now)
    }
    let end = start + .milliseconds(200)
    _ = queue.end(flooder, reason: .left, now: end)
    _ = queue.end(anna, reason: .left, now: end)
    var received: [ParticipantID: Int] = [:]
    var runs: [ParticipantID: [TrackID: DroppedFrameRun]] = [:]
    for (entry, _) in queue.takeAll() {
      switch entry.step {
      case .receive: received[entry.participant, default: 0] += 1
      case .end(_, let dropped): runs[entry.participant] = dropped
      case .begin, .path, .problem, .pause, .finish: break
      }
    }
    #expect(received[anna] == 400 && runs[anna]?.isEmpty == true)
    #expect(received[flooder].map { $0 < 110 } == true, "\(received)")
    #expect(
      Set(try #require(runs[flooder]).keys) == Set((1...10).map { TrackID(of: flooder, stream: $0, kind: .video) }))
    #expect(runs[flooder]?.values.reduce(received[flooder] ?? 0) { $0 + $1.count } == 2_000)
    #expect(queue.peak <= 3 << 18)
  }

  @Test("dropped frames are counted in the manifest of their stream")
  func droppedFrames() async throws {
    let (folder, disk) = (TestFolder(), ScriptedDisk())
    var script = try SmallCall.script(4)
    // Without a keyframe later on.
    var frame = try #require(try TestMedia.videoFrames(0.1).first?.payload)
    frame.writeRepeatingByte(0, count: 100_000)
    script.add(
      (0..<120).map { .init(ticks: Int64($0) * 3_000, payload: frame, isKeyframe: $0 == 0) }, codec: .vp8, stream: 2)
    let recorder = try folder.recorder(verifies: false, memoryLimit: 1 << 20, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 1)
    disk.failures = [.write: 5]
    await folder.play([script], to: recorder, from: 1.000_001, until: 3)
    disk.failures = [:]
    let last = await folder.play([script], to: recorder, from: 3.000_001)
    for tick in 1...12 { await recorder.advance(now: last + RoomRecorder.tick * tick) }
    let summaries = await recorder.finish(now: last + .seconds(2))
    let screen = try #require(summaries.last)
    #expect(summaries.map(\.stream) == [1, 2])
    func dropped(_ manifest: RecordingManifest) -> UInt64 {
      (manifest.disk?.framesDropped ?? 0) + (manifest.memory?.framesDropped ?? 0)
        + (manifest.overload?.framesDropped ?? 0)
    }
    #expect(dropped(screen.manifest) > 20)
    #expect((screen.track(.video)?.frames ?? 0) + dropped(screen.manifest) == 120)
    let camera = try #require(summaries.first)
    #expect((camera.track(.video)?.frames ?? 0) + dropped(camera.manifest) == 120)
    #expect(dropped(camera.manifest) < dropped(screen.manifest))
  }

  @Test("streams share the budget for verification")
  func verification() {
    let share = VerificationShare(VerificationPool(threads: 0))
    let size = VideoSize(width: 4_096, height: 4_096)
    func spend(_ stream: Int) -> Int { (0..<20).count { _ in share.spend(on: size, of: stream, now: start) } }
    let (first, second) = (spend(1), spend(2))
    #expect(first > 0 && second == 0)
    let other = VerificationShare(VerificationPool(threads: 0))
    let isAffordable = other.spend(on: size, of: 2, now: start)
    #expect(isAffordable)
  }
}
