internal import Logging
package import Media
internal import Signalling

/// The names of participants, for people.
extension RoomCall {
  /// The name that a participant gave itself; nil if the system knows none.
  package func name(of participant: ParticipantID) -> String? { participants.announcement(of: participant)?.name }

  /// What log lines say of a participant: the id, and the name if there is one.
  func metadata(of participant: ParticipantID) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["user": "\(participant)"]
    if let name = name(of: participant) { metadata["name"] = "\(name.printable())" }
    return metadata
  }
}
