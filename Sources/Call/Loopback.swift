internal import BotPeer
internal import Media
internal import NIOCore
internal import Synchronization

/// Sends each user's media back to them unchanged, to test cameras or as an echo.
///
/// Nothing is re-encoded. Packets lost on the way here are requested again here, and packets lost on the way back are
/// retransmitted from here. Only keyframe requests reach the user's encoder.
final class Loopback: MediaSink {
  /// How long each frame is delayed.
  private let delay: Duration
  private let loop: any EventLoop
  private let peer = Mutex<Peer?>(nil)

  init(delay: Duration, on loop: any EventLoop) {
    self.delay = delay
    self.loop = loop
  }

  /// Sends through this peer from now on.
  func start(_ peer: Peer) { self.peer.withLock { $0 = peer } }

  /// Stops sending, and releases the peer, which holds a reference to this object.
  func stop() { peer.withLock { $0 = nil } }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    guard case .frame(let frame) = event, let peer = peer.withLock({ $0 }) else { return }
    guard delay > .zero else { return peer.send(frame, to: participant) }
    loop.scheduleTask(in: TimeAmount(delay)) { peer.send(frame, to: participant) }
  }
}
