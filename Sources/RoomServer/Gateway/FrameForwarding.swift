import Media
import Synchronization

/// Where the media of each session goes. Called on the media thread.
final class FrameForwarding: MediaSink {
  private let receivers = Mutex<[ParticipantID: @Sendable (MediaEvent) -> Void]>([:])

  func set(_ participant: ParticipantID, _ receiver: @escaping @Sendable (MediaEvent) -> Void) {
    receivers.withLock { $0[participant] = receiver }
  }

  func remove(_ participant: ParticipantID) { receivers.withLock { $0[participant] = nil } }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    receivers.withLock { $0[participant] }?(event)
  }
}
