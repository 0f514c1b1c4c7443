internal import BotPeer
internal import Logging
internal import Media
internal import Room
internal import Signalling

/// One publisher or viewer of a load, with its own id, socket and certificate.
struct LoadParticipant: Sendable {
  let index: Int
  let role: LoadRole
  /// From 1, as in the report: publishers and viewers are counted apart.
  let number: Int
  let session: RoomSession
  let registry: LoadRegistry
  let members: ParticipantGroup
  /// The load of data channels; nil for none.
  let probe: DataProbe?
  /// What a viewer receives; nil for a publisher.
  let reception: ReceptionCounter?
  /// How long to wait for a server that cannot be reached.
  let waitForServer: Duration
  /// A sentence about a server that was not reached; nil for none.
  let unreachableHint: String?
  let log: Logger

  init(
    index: Int, settings: RoomLoad.Settings, peer: Peer, client: any SignallingClient, registry: LoadRegistry,
    members: ParticipantGroup, probe: DataProbe?, reception: ReceptionCounter?, log: Logger
  ) {
    self.index = index
    role = settings.role(of: index)
    number = settings.number(of: index)
    self.registry = registry
    self.members = members
    self.probe = probe
    self.reception = reception
    waitForServer = settings.waitForServer
    unreachableHint = settings.unreachableHint
    self.log = log
    var policy = RoomPolicy()
    policy.filter = { event in
      if case .joined(let id, _) = event { members.note(index) { $0.joined(as: id, now: .now) } }
      return await registry.filter(event, of: index)
    }
    session = RoomSession(client: client, peer: peer, policy: policy)
  }

  /// Joins the room and stays until it is closed or the server refuses the join. If the task is cancelled, it leaves in order.
  func run() async {
    members.note(index) { $0.starts(now: .now) }
    registry.begins(index)
    // It may end before it has joined, and others wait for it to join.
    defer { registry.gaveUp(index) }
    do {
      try await session.join(waiting: waitForServer)
    } catch {
      if !Task.isCancelled { giveUp("The server was not reached: \(error)\(hint(on: error))") }
      await leave()
      return await session.client.leave()
    }
    let stay = Task { await self.stay() }
    await withTaskCancellationHandler {
      await stay.value
    } onCancel: {
      Task { await leave() }
    }
  }

  private func stay() async {
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
        case .problem(let sentence): log.warning("\(sentence)", metadata: [role.rawValue: "\(number)"])
        case .ended(let reason): ended(reason)
        }
      }
      group.cancelAll()
    }
  }

  /// Closes all connections; then `run` returns.
  func leave() async { await session.leave(because: Self.goodbye) }

  private static let goodbye = "The participant of the load left the room."

  /// Updates the counters of the publisher's connections.
  func count() async {
    let statistics = await session.peer.statistics()
    let reception = reception?.log(until: .now)
    members.note(index) { $0.counted(statistics, data: probe?.reports ?? [], reception: reception) }
  }

  private func hint(on error: SignallingConnectError) -> String {
    guard case .unreachable = error, let unreachableHint else { return "" }
    return " \(unreachableHint)"
  }

  private func giveUp(_ sentence: String) {
    registry.gaveUp(index)
    members.note(index) { $0.failed(sentence) }
    log.warning("\(sentence)", metadata: [role.rawValue: "\(number)"])
  }

  // MARK: Events

  private func received(_ event: SignallingEvent) {
    switch event {
    case .joined(let you, let others):
      log.debug("joined", metadata: [role.rawValue: "\(number)", "user": "\(you)", "called": "\(others.count)"])
    case .connectionLost(let reason, _):
      // Before we have joined, it ends the session.
      guard members.note(index, { $0.hasJoined }) else { break }
      log.warning("server lost, calls continue", metadata: [role.rawValue: "\(number)", "reason": "\(reason)"])
    case .rejected(let reason):
      members.note(index) { $0.refused(reason) }
    case .participantJoined, .participantLeft, .message, .iceServers, .closed:
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
    let names: Logger.Metadata = [role.rawValue: "\(number)", "user": "\(participant)"]
    switch participantEvent.event {
    case .stateChanged(let state):
      if state == .connecting { members.note(index) { $0.calls(participant, now: .now) } }
      if state == .connected { members.connected(index, participant) }
      log.debug("user \(state.rawValue)", metadata: names)
    case .signal, .media, .reached, .pathSelected, .mediaAnnounced:
      break
    case .keyframeRequested:
      members.source?.requestKeyframe()
    case .targetBitrate(let bitrate, let fractionLost):
      members.adapt(to: .init(bitrate: bitrate, fractionLost: fractionLost), of: participant, index)
    case .iceRestarted(let reason):
      log.debug("\(reason)", metadata: names)
    case .sectionRejected(let section):
      if section.isUnexpected { members.note(index) { $0.refused(section.description) } }
      log.debug("\(section)", metadata: names)
    case .problem(let sentence):
      members.note(index) { $0.refused(sentence) }
      log.debug("\(sentence)", metadata: names)
    case .ended(let ending):
      probe?.ended(with: participant)
      reception?.ended(participant, ending)
      members.note(index) { $0.ended(participant, ending) }
      members.adapt(to: nil, of: participant, index)
      log.debug("call ended", metadata: names.merging(["reason": "\(ending)"]) { $1 })
    }
  }
}
