import BotPeer
import Media
import NIOCore

/// Sends back to each user what came from them, as it came: a mirror, for who tests a camera, and an echo.
///
/// Nothing is encoded anew. What is lost on the way here is asked for here, what is lost on the way back is sent again from
/// here; only the wish for a keyframe goes through.
struct Loopback: Sendable {
  let peer: BotPeer
  /// How long everything is kept back.
  let delay: Duration

  func give(back frame: EncodedFrame, to participant: ParticipantID) {
    guard delay > .zero else { return peer.send(frame, to: participant) }
    MediaThread.loop.scheduleTask(in: TimeAmount(delay)) { peer.send(frame, to: participant) }
  }
}
