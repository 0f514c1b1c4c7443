import Media
import Synchronization

/// Where the frames of each session go. Called on the media thread.
final class FrameForwarding: Sendable {
  private let receivers = Mutex<[ParticipantID: @Sendable (EncodedFrame) -> Void]>([:])

  func set(_ participant: ParticipantID, _ receiver: @escaping @Sendable (EncodedFrame) -> Void) {
    receivers.withLock { $0[participant] = receiver }
  }

  func remove(_ participant: ParticipantID) { receivers.withLock { $0[participant] = nil } }

  func forward(_ frame: EncodedFrame, of participant: ParticipantID) {
    receivers.withLock { $0[participant] }?(frame)
  }
}
