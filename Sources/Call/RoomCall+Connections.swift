internal import BotPeer
internal import Logging
internal import Media
internal import Recorder
internal import Room
internal import Signalling

/// Media from users and to users.
extension RoomCall {
  /// Returns the peer's configuration: that of the settings, with what the call itself decides.
  static func peerConfiguration(
    _ settings: Settings, capabilities: SignallingCapabilities, source: (any FrameSource)?, recorder: RecorderGroup?,
    loopback: Loopback?, observer: (any RoomCallObserver)?, participants: ParticipantRegistry
  ) -> Peer.Configuration {
    var configuration = settings.peer
    let sinks: [(any MediaSink)?] = [observer, recorder, loopback]
    configuration.mediaSinks = (configuration.mediaSinks ?? []) + sinks.compactMap(\.self)
    configuration.handler = handler(recorder: recorder, observer: observer, participants: participants)
    configuration.sending = loopback != nil ? Set(MediaKind.allCases) : source?.kinds ?? []
    configuration.sendingCodecs = loopback != nil ? [:] : source?.codecs ?? [:]
    configuration.sendsInEverySection = loopback != nil
    // A recorded file cannot produce a keyframe. An encoder can, and so can the user whose media is looped back.
    configuration.keyframeResponse = loopback != nil || source?.isLive == true ? .requestFromSource : .replay
    // Otherwise the first audio would return late, and out of sync with the video, which begins with a keyframe.
    if loopback != nil { configuration.initialReorderingDelay = .milliseconds(40) }
    configuration.dataChannels = capabilities.dataChannels.map { DataChannelOptions($0) }
    configuration.restartsICE = configuration.restartsICE && capabilities.restartsICE
    return configuration
  }

  /// Returns the peer's event handler, which passes to the recorder what happens to a connection. It runs on the media thread
  /// that the event is of, of which there can be several, so it must not block.
  private static func handler(
    recorder: RecorderGroup?, observer: (any RoomCallObserver)?, participants: ParticipantRegistry
  ) -> @Sendable (ParticipantEvent) -> Void {
    { participantEvent in
      let participant = participantEvent.participant
      func begin() {
        let known = participants.announcement(of: participant)
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
      case .signal, .stateChanged, .reached, .media, .keyframeRequested, .targetBitrate, .mediaAnnounced, .iceRestarted,
        .problem:
        break
      }
    }
  }

  /// Passes what happens to a connection to the camera and the log.
  func received(_ participantEvent: ParticipantEvent, _ connections: inout ConnectionLog) {
    let participant = participantEvent.participant
    let user = metadata(of: participant)
    switch participantEvent.event {
    case .signal, .media, .mediaAnnounced:
      break
    case .stateChanged(let state):
      let level: Logger.Level =
        state == .connecting && participants.isExpected(participant) ? .debug : .info
      if state == .connected {
        participants.connected(participant)
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
      source?.requestKeyframe()
      if loopback != nil { peer.requestKeyframe(of: participant) }
    case .targetBitrate(let bitrate, let fractionLost):
      connections.bandwidth.set(.init(bitrate: bitrate, fractionLost: fractionLost), of: participant)
      adaptSource(to: connections.bandwidth)
    case .iceRestarted(let reason):
      log.log(level: reason == .requested ? .info : .warning, "\(reason)", metadata: user)
    case .sectionRejected(let section):
      log.warning("\(section)", metadata: user)
      rejected(section, by: participant)
    case .problem(let sentence):
      log.warning("\(sentence)", metadata: user)
    case .ended(let ending):
      connections.paths[participant] = nil
      // Somebody who never came has not ended a call.
      let isReported =
        connections.connected.remove(participant) != nil || !participants.isExpected(participant)
      log.log(
        level: isReported ? .info : .debug, "call ended", metadata: user.merging(["reason": "\(ending)"]) { $1 })
      connections.bandwidth.remove(participant)
      adaptSource(to: connections.bandwidth)
    }
  }

  /// Ends the call if a media server rejects all that we are to publish.
  private func rejected(_ section: RejectedSection, by participant: ParticipantID) {
    guard section.reason == .rejectedByParticipant, let kind = MediaKind(rawValue: section.kind),
      participants.announcement(of: participant)?.direction == .sendOnly
    else { return }
    let published = source?.kinds ?? (loopback != nil ? Set(MediaKind.allCases) : [])
    let rejected = participants.rejected(kind, by: participant)
    if !published.isEmpty, rejected.isSuperset(of: published) {
      participants.end(.rejected("The server rejects all that we publish: \(section)"))
    }
  }

  /// Whether the call is relayed by a TURN server, the types of both candidates, and the protocol between them.
  private static func metadata(of types: CandidateTypes) -> Logger.Metadata {
    [
      "path": types.isRelayed ? "relayed" : "direct", "localCandidate": "\(types.local)",
      "remoteCandidate": "\(types.remote)", "transport": "\(types.transport)",
    ]
  }

  /// Sends the frames of the source.
  func play(_ source: any FrameSource) async {
    if settings.media.waitsForConnection { await participants.firstConnection() }
    for await frame in await source.frames() {
      // Before `send`, because a peer may return the frame before this task continues.
      observer?.sent(frame, at: .now)
      peer.send(frame)
    }
    // The last frames are still being sent.
    try? await loop.sleep(for: .milliseconds(300))
  }

  /// Adapts the encoder to the viewers' bandwidth. One encoder serves all viewers.
  private func adaptSource(to bandwidth: ViewerBandwidth) {
    guard let source = source, source.isLive else { return }
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
