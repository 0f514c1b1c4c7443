/// Limits the audio of a participant to the time that has passed.
///
/// A microphone records no faster than real time. Packets may arrive late and then all at once, but the received audio
/// plus the audio that the recorder generates for lost packets never lasts much longer than the time since the first
/// packet, whatever sequence numbers and timestamps claim.
package struct AudioBudget: Sendable {
  /// How far a sender may be ahead from the first packet on: the first packets may have been delayed more than later
  /// ones.
  package static let slack = Duration.seconds(1)
  /// The longest silence that is credited. After a longer one the connection is over (RFC 7675, 5.1).
  package static let maximumSilence = Duration.seconds(30)
  /// How far packets may be ahead of real time before they are rejected.
  package static let maximumLead = Duration.seconds(5)
  /// How much faster than ours a sender's clock may run permanently, as a fraction.
  package static let tolerance = 0.01

  /// The time that has passed and that no audio has filled; negative when there was more audio than time.
  package private(set) var room = AudioBudget.slack
  private var last: MonotonicInstant?

  package init() {}

  /// Accounts for a received packet.
  ///
  /// - Parameter length: the duration of its audio.
  /// - Returns: whether there was time for it; if not, the packet must be skipped.
  package mutating func take(_ length: Duration, arrival: MonotonicInstant) -> Bool {
    if let last, arrival > last { room = min(Self.maximumSilence, room + (arrival - last) * (1 + Self.tolerance)) }
    last = max(last ?? arrival, arrival)
    guard room - length >= .zero - Self.maximumLead else { return false }
    room -= length
    return true
  }

  /// Accounts for audio that the recorder generated.
  package mutating func spend(_ length: Duration) { room -= length }
}
