internal import BotPeer
internal import Logging
internal import Media
internal import Room
internal import Signalling

/// One publisher of a load, with its own id, socket and certificate.
struct LoadPublisher: Sendable {
  let index: Int
  let session: RoomSession
  let publisherRegistry: PublisherRegistry
  let publisherGroup: PublisherGroup
  /// The load of data channels; nil for none.
  let probe: DataProbe?
  let log: Logger

  init(
    index: Int, peer: Peer, client: any SignallingClient, publisherRegistry: PublisherRegistry,
    publisherGroup: PublisherGroup, probe: DataProbe?, log: Logger
  ) {
    self.index = index
    self.publisherRegistry = publisherRegistry
    self.publisherGroup = publisherGroup
    self.probe = probe
    self.log = log
    var policy = RoomPolicy()
    policy.filter = { event in
      if case .joined = event { publisherGroup.note(index) { $0.joined(now: .now) } }
      return await publisherRegistry.filter(event, of: index)
    }
    session = RoomSession(client: client, peer: peer, policy: policy)
  }

  /// Joins the room and stays until it is closed or the server refuses the join. If the task is cancelled, it leaves in order.
  func run() async {
    let stay = Task { await joinAndStay() }
    await withTaskCancellationHandler {
      await stay.value
    } onCancel: {
      Task { await leave() }
    }
  }

  private func joinAndStay() async {
    publisherGroup.note(index) { $0.starts(now: .now) }
    publisherRegistry.begins(index)
    do {
      try await session.join()
    } catch {
      giveUp("The server was not reached: \(error)")
      await leave()
      return await session.client.leave()
    }
    await withDiscardingTaskGroup { group in
      group.addTask { await serveDataChannels() }
      await session.run { event in
        switch event {
        case .signalling(let event): received(event)
        case .connection(let event):
          let participant = event.participant
          if let probe, case .stateChanged(.connected) = event.event, probe.begin(with: participant) {
            group.addTask { await probe.run(with: participant, of: session.peer) }
          }
          received(event)
        case .problem(let sentence): log.warning("\(sentence)", metadata: ["publisher": "\(index)"])
        case .ended(let reason): ended(reason)
        }
      }
      group.cancelAll()
    }
  }

  /// Closes all connections; then `run` returns.
  func leave() async { await session.leave(because: Self.goodbye) }

  private static let goodbye = "The publisher left the room."

  /// Updates the counters of the publisher's connections.
  func count() async {
    let statistics = await session.peer.statistics()
    publisherGroup.note(index) { $0.counted(statistics, data: probe?.reports ?? []) }
  }

  private func giveUp(_ sentence: String) {
    publisherRegistry.gaveUp(index)
    publisherGroup.note(index) { $0.failed(sentence) }
    log.warning("\(sentence)", metadata: ["publisher": "\(index)"])
  }

  // MARK: Events

  private func received(_ event: SignallingEvent) {
    switch event {
    case .joined(let you, let others):
      log.debug("joined", metadata: ["publisher": "\(index)", "user": "\(you)", "called": "\(others.count)"])
    case .connectionLost(let reason, _):
      // Before we have joined, it ends the session.
      guard publisherGroup.note(index, { $0.hasJoined }) else { break }
      log.warning("server lost, calls continue", metadata: ["publisher": "\(index)", "reason": "\(reason)"])
    case .participantJoined, .participantLeft, .message, .iceServers, .rejected, .closed:
      break
    }
  }

  private func ended(_ reason: RoomEndReason) {
    switch reason {
    case .left: break
    case .notAdmitted(let reason): giveUp("The server refused the join: \(reason)")
    case .rejected(let reason): giveUp(reason)
    case .closed(let reason): giveUp("The signalling ended: \(reason)")
    }
  }

  /// Reads all data channels, and returns the messages of other publishers' probes.
  private func serveDataChannels() async {
    await withDiscardingTaskGroup { group in
      for await channel in session.peer.dataChannels {
        group.addTask {
          for await message in channel.messages where channel.configuration.subprotocol == DataProbe.subprotocol {
            try? await channel.send(message)
          }
        }
      }
    }
  }

  private func received(_ participantEvent: ParticipantEvent) {
    let participant = participantEvent.participant
    let names: Logger.Metadata = ["publisher": "\(index)", "user": "\(participant)"]
    switch participantEvent.event {
    case .stateChanged(let state):
      if state == .connecting { publisherGroup.note(index) { $0.calls(participant, now: .now) } }
      if state == .connected { publisherGroup.connected(index, participant) }
      log.debug("user \(state.rawValue)", metadata: names)
    case .signal, .media, .reached, .pathSelected, .mediaAnnounced, .orientationLeftOut:
      break
    case .keyframeRequested:
      publisherGroup.source.requestKeyframe()
    case .targetBitrate(let bitrate, let fractionLost):
      publisherGroup.adapt(to: .init(bitrate: bitrate, fractionLost: fractionLost), of: participant, index)
    case .iceRestarted(let reason):
      log.debug("\(reason)", metadata: names)
    case .sectionRejected(let section):
      log.debug("\(section)", metadata: names)
    case .problem(let sentence):
      log.debug("\(sentence)", metadata: names)
    case .ended(let ending):
      probe?.ended(with: participant)
      publisherGroup.note(index) { $0.ended(participant, ending) }
      publisherGroup.adapt(to: nil, of: participant, index)
      log.debug("call ended", metadata: names.merging(["reason": "\(ending)"]) { $1 })
    }
  }
}
