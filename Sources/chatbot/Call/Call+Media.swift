import BotPeer
import LiveSource
import Logging
import Media
import Recorder
import SkyRTC

/// What comes from users, and what goes to them.
extension Call {
  /// Carries what the peer brings to the server, the recorder and the camera, until the peer has been closed and all is
  /// handed over.
  func followPeer(_ parts: Parts) async {
    var lines = ViewerLines()
    for await happening in parts.peer.events {
      let participant = happening.participant
      let user: Logger.Metadata = ["user": "\(participant)"]
      observer?.happened(happening.event, with: participant, at: happening.time)
      switch happening.event {
      case .signal(.offer(let sdp)):
        parts.client.sendOffer(sdp, to: participant.text)
      case .signal(.answer(let sdp)):
        parts.client.sendAnswer(sdp, to: participant.text)
      case .signal(.candidate(let trickled)):
        parts.client.sendCandidate(
          trickled.candidate, mid: trickled.mid, index: trickled.mLineIndex, to: participant.text)
      case .stateChanged(let state):
        if state == .connecting {
          _ = parts.roster.begin(participant)
          let clock = WallClock.read()
          parts.recorder?.begin(participant, now: clock.moment, wallClock: clock.secondsSince1970)
        }
        if state == .connected { parts.roster.connected() }
        // How it ended is told by what follows.
        if state != .closed && state != .failed { log.info("user \(state.rawValue)", metadata: user) }
      case .reached(let milestone):
        log.debug("user \(milestone.rawValue)", metadata: user)
      case .media(let event):
        if case .frame(let frame) = event { parts.loopback?.give(back: frame, to: participant) }
        parts.recorder?.receive(event, of: participant, now: .now)
      case .keyframeRequested:
        log.debug("keyframe requested", metadata: user)
        parts.source?.requestKeyframe()
        if parts.loopback != nil { parts.peer.requestKeyframe(of: participant) }
      case .targetBitrate(let bitrate, let fractionLost):
        lines.set(.init(bitrate: bitrate, fractionLost: fractionLost), of: participant)
        follow(lines, parts)
      case .problem(let sentence):
        log.warning("\(sentence)", metadata: user)
      case .ended(let ending):
        let isToBeCalledAgain = parts.roster.end(participant)
        log.info("call ended", metadata: user.merging(["reason": "\(ending)"]) { $1 })
        parts.recorder?.end(participant, reason: LeaveReason(ending.cause), now: .now)
        lines.remove(participant)
        follow(lines, parts)
        if isToBeCalledAgain, parts.roster.begin(participant) { parts.peer.offer(to: participant) }
      }
    }
  }

  /// Feeds the camera's frames to the peer. A file that is played once waits for its first viewer.
  func play(_ source: any FrameSource, _ parts: Parts) async {
    if plan.camera?.loops == false { await parts.roster.firstConnection() }
    for await frame in await source.frames() {
      parts.peer.send(frame)
      observer?.sent(frame, at: .now)
    }
    // What was sent last is still on its way.
    try? await MediaThread.loop.sleep(for: .milliseconds(300))
  }

  /// One encoder serves all viewers.
  private func follow(_ lines: ViewerLines, _ parts: Parts) {
    guard let source = parts.source, source.isLive else { return }
    if let line = lines.common {
      source.follow(bitrate: line.bitrate, fractionLost: line.fractionLost)
    } else {
      source.startOver()
    }
  }
}
