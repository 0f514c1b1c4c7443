import BotPeer
import Media
import SkyRTC

/// Somebody who looks on in a call, and says when it has seen enough. Called in the order in which things happen, from several
/// threads; it must not keep anybody waiting.
protocol CallObserver: Sendable {
  /// The server said something.
  func heard(_ event: SkyRTCClient.Event, at now: ContinuousClock.Instant)
  /// Something happened with a participant.
  func happened(_ event: PeerEvent, with participant: ParticipantID, at now: ContinuousClock.Instant)
  /// A frame was handed out for everybody.
  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant)
  /// The call is over; what follows is our own leaving.
  func leaving(at now: ContinuousClock.Instant, because ending: Call.Ending)
  /// Follows the call's counts until enough has been seen.
  func watch(_ peer: BotPeer) async
}
