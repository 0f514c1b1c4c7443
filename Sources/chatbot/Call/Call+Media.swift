import BotPeer
import LiveSource
import Logging
import Media
import NIOCore
import Recorder
import Room
import Synchronization

/// Media from users and to users.
extension Call {
  /// Returns what receives the media of all users.
  func mediaSinks(recorder: RecorderGroup?, loopback: Loopback?) -> [any MediaSink] {
    let known: [(any MediaSink)?] = [observer, recorder, loopback]
    return known.compactMap(\.self)
  }

  /// Returns the peer's event handler, which passes to the recorder what happens to a connection. It runs on the media thread
  /// that the event is of, of which there can be several, so it must not block.
  func handler(
    recorder: RecorderGroup?, participantRegistry: ParticipantRegistry
  ) -> @Sendable (ParticipantEvent) -> Void {
    { [observer] participantEvent in
      let participant = participantEvent.participant
      func begin() {
        let known = participantRegistry.announcement(of: participant)
        // A media server that only receives what we publish sends nothing to record.
        if known?.direction != .sendOnly { recorder?.begin(participant, name: known?.name) }
      }
      observer?.received(participantEvent.event, of: participant, at: participantEvent.time)
      switch participantEvent.event {
      case .stateChanged(.connecting):
        begin()
      case .ended(let ending):
        recorder?.end(participant, reason: RecordingEndReason(ending.cause), now: participantEvent.time)
      case .pathSelected(let types):
        recorder?.setPath(.init(types), of: participant, now: participantEvent.time)
      case .sectionRejected(let section):
        // Nothing else may follow, if the participant offers only what we do not support.
        begin()
        recorder?.addProblem(section.description, of: participant, now: participantEvent.time)
      case .orientationLeftOut:
        if participantRegistry.isMediaServer(participant) {
          recorder?.addProblem(Self.orientationSentence, of: participant, now: participantEvent.time)
        }
      case .signal, .stateChanged, .reached, .media, .keyframeRequested, .targetBitrate, .mediaAnnounced, .iceRestarted,
        .problem:
        break
      }
    }
  }

  /// Passes what happens to a connection to the camera and the log.
  func received(_ participantEvent: ParticipantEvent, _ connections: inout ConnectionLog, _ parts: Parts) {
    let participant = participantEvent.participant
    let user: Logger.Metadata = ["user": "\(participant)"]
    switch participantEvent.event {
    case .signal, .media, .mediaAnnounced:
      break
    case .stateChanged(let state):
      let level: Logger.Level =
        state == .connecting && parts.participantRegistry.isExpected(participant) ? .debug : .info
      if state == .connected {
        parts.participantRegistry.connected(participant)
        connections.connected.insert(participant)
      }
      // The `ended` event that follows carries the reason.
      if state != .closed && state != .failed {
        let path = state == .connected ? connections.paths[participant] : nil
        log.log(
          level: level, "user \(state.rawValue)", metadata: user.merging(path.map(Self.metadata(of:)) ?? [:]) { $1 })
      }
    case .reached(let milestone):
      log.debug("user \(milestone.rawValue)", metadata: user)
    case .pathSelected(let types):
      let former = connections.paths.updateValue(types, forKey: participant)
      // Before that, the line `user connected` names it.
      if connections.connected.contains(participant) {
        let level: Logger.Level = types.isRelayed == former?.isRelayed ? .debug : .info
        log.log(level: level, "path selected", metadata: user.merging(Self.metadata(of: types)) { $1 })
      }
    case .keyframeRequested:
      log.debug("keyframe requested", metadata: user)
      parts.source?.requestKeyframe()
      if parts.loopback != nil { parts.session.peer.requestKeyframe(of: participant) }
    case .targetBitrate(let bitrate, let fractionLost):
      connections.bandwidth.set(.init(bitrate: bitrate, fractionLost: fractionLost), of: participant)
      adaptSource(to: connections.bandwidth, parts)
    case .iceRestarted(let reason):
      log.log(level: reason == .requested ? .info : .warning, "\(reason)", metadata: user)
    case .sectionRejected(let section):
      log.warning("\(section)", metadata: user)
      rejected(section, by: participant, parts)
    case .orientationLeftOut:
      if parts.participantRegistry.isMediaServer(participant) {
        log.warning("\(Self.orientationSentence)", metadata: user)
      }
    case .problem(let sentence):
      log.warning("\(sentence)", metadata: user)
    case .ended(let ending):
      connections.paths[participant] = nil
      // Somebody who never came has not ended a call.
      let isNews =
        connections.connected.remove(participant) != nil || !parts.participantRegistry.isExpected(participant)
      log.log(
        level: isNews ? .info : .debug, "call ended", metadata: user.merging(["reason": "\(ending)"]) { $1 })
      connections.bandwidth.remove(participant)
      adaptSource(to: connections.bandwidth, parts)
    }
  }

  /// What is said of a media server that offers the orientation of the video that it forwards.
  private static let orientationSentence =
    "The media server offers the orientation of its video (video-orientation), which is not supported: video of a phone that "
    + "leaves turning to the receiver lies on its side."

  /// Ends the call if a media server rejects all that we are to publish.
  private func rejected(_ section: RejectedSection, by participant: ParticipantID, _ parts: Parts) {
    guard section.reason == .rejectedByParticipant, let kind = MediaKind(rawValue: section.kind),
      parts.participantRegistry.announcement(of: participant)?.direction == .sendOnly
    else { return }
    let published = parts.source?.kinds ?? (plan.loopback ? Set(MediaKind.allCases) : [])
    let rejected = parts.participantRegistry.rejected(kind, by: participant)
    if !published.isEmpty, rejected.isSuperset(of: published) {
      parts.participantRegistry.reject("The server rejects all that we publish: \(section)")
    }
  }

  /// Whether the call is relayed by a TURN server, the types of both candidates, and the protocol between them.
  private static func metadata(of types: CandidateTypes) -> Logger.Metadata {
    [
      "path": types.isRelayed ? "relayed" : "direct", "localCandidate": "\(types.local)",
      "remoteCandidate": "\(types.remote)", "transport": "\(types.transport)",
    ]
  }

  /// Sends the camera's frames to the peer. A file that is played once waits for its first viewer.
  func play(_ source: any FrameSource, _ parts: Parts) async {
    if plan.camera?.loops == false { await parts.participantRegistry.firstConnection() }
    for await frame in await source.frames() {
      // Before `send`, because a peer may return the frame before this task continues.
      observer?.sent(frame, at: .now)
      parts.session.peer.send(frame)
    }
    // The last frames are still being sent.
    try? await MediaThread.loop.sleep(for: .milliseconds(300))
  }

  /// Adapts the encoder to the viewers' bandwidth. One encoder serves all viewers.
  private func adaptSource(to bandwidth: ViewerBandwidth, _ parts: Parts) {
    guard let source = parts.source, source.isLive else { return }
    if let estimate = bandwidth.common {
      source.adapt(toBitrate: estimate.bitrate, fractionLost: estimate.fractionLost)
    } else {
      source.reset()
    }
  }
}

/// What is known of the connections of a call, for its log and its camera.
struct ConnectionLog {
  var bandwidth = ViewerBandwidth()
  /// The participants whose connections were established.
  var connected: Set<ParticipantID> = []
  var paths: [ParticipantID: CandidateTypes] = [:]
}

/// Sends each user's media back to them unchanged, to test cameras or as an echo.
///
/// Nothing is re-encoded. Packets lost on the way here are requested again here, and packets lost on the way back are
/// retransmitted from here. Only keyframe requests reach the user's encoder.
final class Loopback: MediaSink {
  /// How long each frame is delayed.
  private let delay: Duration
  private let peer = Mutex<Peer?>(nil)

  init(delay: Duration) {
    self.delay = delay
  }

  /// Sends through this peer from now on.
  func start(_ peer: Peer) { self.peer.withLock { $0 = peer } }

  /// Stops sending, and releases the peer, which holds a reference to this object.
  func stop() { peer.withLock { $0 = nil } }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    guard case .frame(let frame) = event, let peer = peer.withLock({ $0 }) else { return }
    guard delay > .zero else { return peer.send(frame, to: participant) }
    MediaThread.loop.scheduleTask(in: TimeAmount(delay)) { peer.send(frame, to: participant) }
  }
}
