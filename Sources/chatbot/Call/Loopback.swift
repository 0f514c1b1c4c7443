import BotPeer
import Media
import NIOCore
import Synchronization

/// Sends back to each user what came from them, as it came: a mirror, for who tests a camera, and an echo.
///
/// Nothing is re-encoded. What is lost on the way here is requested here, what is lost on the way back is sent again from
/// here; only the keyframe request goes through.
final class Loopback: MediaSink {
  /// How long everything is kept back.
  private let delay: Duration
  private let peer = Mutex<Peer?>(nil)

  init(delay: Duration) {
    self.delay = delay
  }

  /// Sends by this peer from now on.
  func start(_ peer: Peer) { self.peer.withLock { $0 = peer } }

  /// Sends nothing any more, and lets go of the peer, which has this.
  func stop() { peer.withLock { $0 = nil } }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    guard case .frame(let frame) = event, let peer = peer.withLock({ $0 }) else { return }
    guard delay > .zero else { return peer.send(frame, to: participant) }
    MediaThread.loop.scheduleTask(in: TimeAmount(delay)) { peer.send(frame, to: participant) }
  }
}
