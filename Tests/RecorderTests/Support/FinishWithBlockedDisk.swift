import Media
import Recorder
import Synchronization

/// Ends all recordings and advances the time until the recorder gives up the disk, 48 s later.
func finishWithBlockedDisk(_ recorder: RoomRecorder, at end: MonotonicInstant) async throws -> [RecordingSummary] {
  let isOver = Mutex(false)
  let finishing = Task {
    defer { isOver.withLock { $0 = true } }
    return await recorder.finish(now: end, within: .seconds(60))
  }
  var clock = end
  while !isOver.withLock({ $0 }) {
    clock += RoomRecorder.tick
    await recorder.advance(now: clock)
    if clock > end + .seconds(48) { try await Task.sleep(for: .milliseconds(1)) }
  }
  return await finishing.value
}
