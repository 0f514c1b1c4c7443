internal import Media
internal import Synchronization

/// The id that participants know us by.
final class OwnID: Sendable {
  private let id = Mutex<ParticipantID?>(nil)

  func set(_ id: ParticipantID) { self.id.withLock { $0 = id } }

  /// Whether we give way when both sides offer at once. The side with the smaller id does, so exactly one does; without an id
  /// we do.
  func isPolite(towards participant: ParticipantID) -> Bool { id.withLock { $0.map { $0 < participant } ?? true } }
}
