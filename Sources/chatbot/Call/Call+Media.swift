import BotPeer
import LiveSource
import Logging
import Media
import Recorder
import SkyRTC

/// What comes from users, and what goes to them.
extension Call {
  /// Takes media straight to those that it is for, on the thread that it came on, of which there can be several: nothing here may wait.
  func handler(recorder: RecorderGroup?, loopback: Loopback?) -> @Sendable (ParticipantEvent) -> Void {
    let known: [(any MediaSink)?] = [recorder, loopback]
    let sinks = known.compactMap(\.self)
    return { [observer] participantEvent in
      let participant = participantEvent.participant
      observer?.happened(participantEvent.event, with: participant, at: participantEvent.time)
      switch participantEvent.event {
      case .stateChanged(.connecting):
        recorder?.begin(participant)
      case .media(let event):
        for sink in sinks { sink.receive(event, of: participant, now: participantEvent.time) }
      case .ended(let ending):
        recorder?.end(participant, reason: RecordingEndReason(ending.cause), now: participantEvent.time)
      case .signal, .stateChanged, .reached, .keyframeRequested, .targetBitrate, .problem:
        break
      }
    }
  }

  /// Carries what happens with participants to the server, the camera and the log, until the peer has been closed and all is
  /// handed over.
  func followPeer(_ parts: Parts) async {
    var lines = ViewerBandwidth()
    for await participantEvent in parts.peer.events {
      let participant = participantEvent.participant
      let user: Logger.Metadata = ["user": "\(participant)"]
      switch participantEvent.event {
      case .signal(let message):
        parts.client.send(message, to: participant)
      case .stateChanged(let state):
        if state == .connecting { _ = parts.participantRegistry.begin(participant) }
        if state == .connected { parts.participantRegistry.connected() }
        // How it ended is given by what follows.
        if state != .closed && state != .failed { log.info("user \(state.rawValue)", metadata: user) }
      case .reached(let milestone):
        log.debug("user \(milestone.rawValue)", metadata: user)
      case .media:
        break
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
        let isToBeCalledAgain = parts.participantRegistry.end(participant)
        log.info("call ended", metadata: user.merging(["reason": "\(ending)"]) { $1 })
        lines.remove(participant)
        follow(lines, parts)
        if isToBeCalledAgain, parts.participantRegistry.begin(participant) { parts.peer.offer(to: participant) }
      }
    }
  }

  /// Feeds the camera's frames to the peer. A file that is played once waits for its first viewer.
  func play(_ source: any FrameSource, _ parts: Parts) async {
    if plan.camera?.loops == false { await parts.participantRegistry.firstConnection() }
    for await frame in await source.frames() {
      // It may come back before this continues.
      observer?.sent(frame, at: .now)
      parts.peer.send(frame)
    }
    // What was sent last is still on its way.
    try? await MediaThread.loop.sleep(for: .milliseconds(300))
  }

  /// One encoder serves all viewers.
  private func follow(_ lines: ViewerBandwidth, _ parts: Parts) {
    guard let source = parts.source, source.isLive else { return }
    if let line = lines.common {
      source.adapt(toBitrate: line.bitrate, fractionLost: line.fractionLost)
    } else {
      source.reset()
    }
  }
}
