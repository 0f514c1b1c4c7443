import BotPeer
import Logging
import Media
import Signalling
import SkyRTC

/// One publisher of a load, with its own id, socket and certificate.
struct LoadPublisher: Sendable {
  let index: Int
  let peer: Peer
  let client: any SignallingClient
  let publisherRegistry: PublisherRegistry
  let publisherGroup: PublisherGroup
  /// The load of data channels; nil for none.
  let probe: DataProbe?
  let log: Logger

  /// Joins the room and stays until it is closed or the server refuses the join.
  func run() async {
    publisherGroup.note(index) { $0.starts(now: .now) }
    publisherRegistry.begins(index)
    do {
      try await client.connect()
    } catch {
      giveUp("The server was not reached: \(error)")
      return await leave()
    }
    async let media: Void = followPeer()
    async let channels: Void = serveDataChannels()
    await followSignalling()
    await media
    await channels
  }

  /// Closes all connections; then `run` returns.
  func leave() async {
    await peer.close(reason: "The publisher left the room.")
    await client.leave()
  }

  /// Updates the counters of the publisher's connections.
  func count() async {
    let statistics = await peer.statistics()
    publisherGroup.note(index) { $0.counted(statistics, data: probe?.reports ?? []) }
  }

  private func giveUp(_ sentence: String) {
    publisherRegistry.gaveUp(index)
    publisherGroup.note(index) { $0.failed(sentence) }
    log.warning("\(sentence)", metadata: ["publisher": "\(index)"])
  }

  // MARK: Events

  private func followSignalling() async {
    var hasJoined = false
    for await event in client.events {
      switch event {
      case .joined(let you, let others):
        let isSomeoneElse = hasJoined && publisherRegistry.id(of: index) != you.text
        hasJoined = true
        publisherRegistry.joined(index, as: you.text)
        publisherGroup.note(index) { $0.joined(now: .now) }
        log.debug("joined", metadata: ["publisher": "\(index)", "user": "\(you)", "others": "\(others.count)"])
        let known = Dictionary(others.map { ($0.id.text, $0) }, uniquingKeysWith: { $1 })
        for id in await publisherRegistry.callees(among: others.map(\.id.text)) {
          guard let participant = known[id] else { continue }
          let other = participant.id
          if isSomeoneElse {
            peer.disconnect(other, because: CloseReason(.connectionLost, "The connection to the server was lost."))
          } else if !begin(other) {
            continue
          }
          peer.call(participant)
        }
      case .participantJoined(let participant):
        if publisherRegistry.leavesAlone(participant.id.text) { continue }
        if participant.offerer == .local, !begin(participant.id) { continue }
        peer.call(participant)
      case .iceServers(let servers):
        // Their candidates are trickled, so that a slow name server does not delay the call.
        let use = Task {
          for problem in await peer.use(servers) { log.warning("\(problem)", metadata: ["publisher": "\(index)"]) }
        }
        if !client.capabilities.tricklesCandidates { await use.value }
      case .rejected(let reason):
        giveUp(reason)
        return await leave()
      case .closed(let reason):
        giveUp("The signalling ended: \(reason)")
        return await leave()
      case .participantLeft:
        peer.receive(event)
      case .message(let message, let id):
        if case .answer = message {} else if publisherRegistry.leavesAlone(id.text) { continue }
        if case .offer = message { _ = begin(id) }
        peer.receive(event)
      case .connectionLost(let reason, _) where !hasJoined:
        giveUp("The server refused the join: \(reason)")
        return await leave()
      case .connectionLost(let reason, _):
        log.warning("server lost, calls continue", metadata: ["publisher": "\(index)", "reason": "\(reason)"])
      }
    }
  }

  /// Registers the start of a call, and returns false if there already is one.
  private func begin(_ participant: ParticipantID) -> Bool {
    publisherGroup.note(index) { $0.calls(participant, now: .now) }
  }

  /// Reads all data channels, and returns the messages of other publishers' probes.
  private func serveDataChannels() async {
    await withDiscardingTaskGroup { group in
      for await channel in peer.dataChannels {
        group.addTask {
          for await message in channel.messages where channel.configuration.subprotocol == DataProbe.subprotocol {
            try? await channel.send(message)
          }
        }
      }
    }
  }

  private func followPeer() async {
    await withDiscardingTaskGroup { group in
      await followPeer { participant in
        guard let probe, probe.begin(with: participant) else { return }
        group.addTask { await probe.run(with: participant, of: peer) }
      }
      group.cancelAll()
    }
  }

  private func followPeer(connected: (ParticipantID) -> Void) async {
    for await participantEvent in peer.events {
      let participant = participantEvent.participant
      let names: Logger.Metadata = ["publisher": "\(index)", "user": "\(participant)"]
      switch participantEvent.event {
      case .signal(let message):
        client.send(message, to: participant)
      case .stateChanged(let state):
        if state == .connected {
          publisherGroup.connected(index, participant)
          connected(participant)
        }
        log.debug("user \(state.rawValue)", metadata: names)
      case .media, .reached, .pathSelected, .orientationLeftOut:
        break
      case .keyframeRequested:
        publisherGroup.source.requestKeyframe()
      case .targetBitrate(let bitrate, let fractionLost):
        publisherGroup.follow(.init(bitrate: bitrate, fractionLost: fractionLost), of: participant, index)
      case .iceRestarted(let reason):
        log.debug("\(reason)", metadata: names)
      case .sectionRejected(let section):
        log.debug("\(section)", metadata: names)
      case .problem(let sentence):
        log.debug("\(sentence)", metadata: names)
      case .ended(let ending):
        probe?.ended(with: participant)
        if ending.cause != .closedByParticipant, !ending.isReplaced { client.hangUp(participant) }
        publisherGroup.note(index) { $0.ended(participant, ending) }
        publisherGroup.follow(nil, of: participant, index)
        log.debug("call ended", metadata: names.merging(["reason": "\(ending)"]) { $1 })
      }
    }
  }
}
