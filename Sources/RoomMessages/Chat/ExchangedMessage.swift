package import Media

/// A chat message that a user sent to us, or that we sent to a user.
package struct ExchangedMessage: Sendable {
  package var user: ParticipantID
  package var isOurs: Bool
  /// The user's name; nil if the signalling knows none, and for a message of ours.
  package var name: String?
  /// At most 16 KiB.
  package var text: UntrustedText
}
