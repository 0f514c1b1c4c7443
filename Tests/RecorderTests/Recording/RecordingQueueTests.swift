import Media
import NIOCore
import Testing

@testable import Recorder

@Suite("The recording queue")
struct RecordingQueueTests {
  private let flooder = ParticipantID("flooder")
  private let anna = ParticipantID("anna")
  private let start = ContinuousClock.now

  private func now(_ milliseconds: Int) -> MonotonicInstant { MonotonicInstant(start + .milliseconds(milliseconds)) }

  private func frame(_ owner: ParticipantID, _ index: Int, bytes: Int, every distance: Int = 30) -> MediaEvent {
    .frame(
      EncodedFrame(
        owner: owner, codec: .vp8, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000),
        payload: ByteBuffer(repeating: 7, count: bytes), isKeyframe: index % distance == 0, arrival: now(index)))
  }

  @Test("a participant who floods the memory loses frames; others lose none while they use less than their share")
  func floodersLoseTheirOwnFrames() {
    let queue = RecordingQueue(budget: .fixed(1 << 20), disk: DiskMonitor())
    let clock = WallClock(moment: now(0), secondsSince1970: 0)
    for participant in [flooder, anna] { _ = queue.begin(participant, name: nil, clock: clock, now: now(0)) }
    // Nothing is written meanwhile: the flooder sends ten times what fits, the other one a fifth of the memory.
    for index in 0..<200 {
      for part in 0..<10 {
        _ = queue.receive(frame(flooder, index * 10 + part, bytes: 5_000), of: flooder, now: now(index))
      }
      _ = queue.receive(frame(anna, index, bytes: 1_000), of: anna, now: now(index))
    }
    var received: [ParticipantID: Int] = [:]
    var dropped: [ParticipantID: Int] = [:]
    for participant in [flooder, anna] { _ = queue.end(participant, reason: .left, now: now(200)) }
    for (entry, _) in queue.takeAll() {
      switch entry.step {
      case .receive: received[entry.participant, default: 0] += 1
      case .end(_, let runs): dropped[entry.participant] = runs.values.reduce(0) { $0 + $1.count }
      case .begin, .path, .problem, .pause, .finish: break
      }
    }
    #expect(received[anna] == 200 && dropped[anna] == 0)
    #expect(received[flooder].map { $0 < 110 } == true, "\(received)")
    #expect(queue.peak <= 3 << 18)
  }

  @Test("what a participant has waiting for the disk counts for their share")
  func bytesAfterTheQueueCount() {
    let queue = RecordingQueue(budget: .fixed(1 << 20), disk: DiskMonitor())
    let clock = WallClock(moment: now(0), secondsSince1970: 0)
    for participant in [flooder, anna] { _ = queue.begin(participant, name: nil, clock: clock, now: now(0)) }
    _ = queue.takeAll()
    _ = queue.finishBatch(downstream: [flooder: 600 << 10])
    _ = queue.receive(frame(flooder, 0, bytes: 1_000), of: flooder, now: now(1))
    _ = queue.receive(frame(anna, 0, bytes: 1_000), of: anna, now: now(1))
    let admitted = queue.takeAll().map(\.element.participant)
    #expect(admitted == [anna])
  }

  /// Fills the memory with a frame each so many milliseconds while nothing is processed.
  ///
  /// - Returns: the reason of the gap, and the problems.
  private func fill(every milliseconds: Int, disk: DiskMonitor) -> (MediaGap.Reason?, [RoomRecorder.Problem]) {
    let queue = RecordingQueue(budget: .fixed(1 << 20), disk: disk)
    let clock = WallClock(moment: now(0), secondsSince1970: 0)
    _ = queue.begin(anna, name: nil, clock: clock, now: now(0))
    var problems: [RoomRecorder.Problem] = []
    for index in 0..<200 {
      let time = index * milliseconds
      guard case .frame(var frame) = frame(anna, index, bytes: 8_000) else { continue }
      frame.arrived = now(time)
      if let problem = queue.receive(.frame(frame), of: anna, now: now(time)).problem { problems.append(problem) }
    }
    _ = queue.end(anna, reason: .left, now: now(200 * milliseconds))
    for (entry, _) in queue.takeAll() {
      if case .end(_, let dropped) = entry.step { return (dropped.values.first?.reason, problems) }
    }
    return (nil, problems)
  }

  @Test("the cause of full memory is the disk, the processor if its thread is behind, or else the memory")
  func causes() {
    let failing = DiskMonitor()
    failing.setFailing(true)
    let (disk, ofDisk) = fill(every: 1, disk: failing)
    #expect(disk == .diskStalled && ofDisk.map(\.kind) == [.lost])
    #expect(
      ofDisk.first?.sentence
        == "The disk does not keep up, and the 1 MiB of memory for queued frames are full: video, and then audio, is "
        + "dropped until there is space again.")
    let (processor, ofProcessor) = fill(every: 6, disk: DiskMonitor())
    #expect(processor == .overloaded && ofProcessor.map(\.kind) == [.overloaded])
    #expect(ofProcessor.first?.sentence.hasPrefix("The processor does not keep up, and the 1 MiB of memory") == true)
    let (memory, ofMemory) = fill(every: 1, disk: DiskMonitor())
    #expect(memory == .memoryFull && ofMemory.map(\.kind) == [.memoryFull])
    #expect(ofMemory.first?.sentence.hasPrefix("The disk and the processor keep up, but more arrives") == true)
  }

  @Test("the memory grows with each participant who is recorded, and with ended recordings that are not on the disk")
  func growingMemory() {
    let queue = RecordingQueue(
      budget: .automatic(of: MachineMemory { _ in "MemTotal: 8000000 kB" }), disk: DiskMonitor())
    let clock = WallClock(moment: now(0), secondsSince1970: 0)
    for number in 0..<100 { _ = queue.begin(ParticipantID("\(number)"), name: nil, clock: clock, now: now(0)) }
    #expect(queue.limit == 232 << 20)
    _ = queue.takeAll()
    _ = queue.finishBatch(downstream: [anna: 5, flooder: 5])
    for number in 0..<100 { _ = queue.end(ParticipantID("\(number)"), reason: .left, now: now(1)) }
    #expect(queue.limit == 36 << 20)
  }
}
