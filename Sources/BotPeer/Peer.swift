@_exported public import FaultInjection
internal import ICE
public import Logging
public import Media
public import NIOCore
@_exported public import NetworkEmulation
@_exported public import PeerEngine
internal import RTP
@_exported public import Signalling

/// A WebRTC participant without a person: connects to any number of others, receives what they send and sends frames to all.
///
/// It neither signals nor stores: ``events`` bring what is to be carried to a participant (``PeerEvent/signal(_:)``) and what
/// arrives (``PeerEvent/media(_:)``); the caller carries it on.
///
/// ```swift
/// let peer = try await Peer.start(Peer.Configuration(), on: group.next())
/// peer.offer(to: ParticipantID("somebody"))
/// for await happening in peer.events { … }
/// ```
///
/// Calls may be made from anywhere and return at once. All work for one participant is done on one event loop.
public final class Peer: Sendable {
  /// What happens to all participants, media too unless there is a ``Configuration/handler``; for one reader.
  public let events: ParticipantEvents
  /// The addresses that datagrams are taken at, for example `10.0.0.1:5000`.
  public let localAddresses: [String]

  private let shards: [MediaShard]
  private let assignments: ShardAssignments
  private let source: NIOLoopBound<EventSource>

  private init(
    events: ParticipantEvents, shards: [MediaShard], assignments: ShardAssignments, source: NIOLoopBound<EventSource>
  ) {
    self.events = events
    self.shards = shards
    self.assignments = assignments
    self.source = source
    localAddresses = shards.flatMap(\.localAddresses).map(\.description).sorted()
  }

  /// Binds the sockets.
  ///
  /// - Parameters:
  ///   - loop: does all work, and hands out the events.
  ///   - others: share the work of media: each has sockets of its own, and a participant is assigned to one of all loops when
  ///     the call begins.
  public static func start(
    _ configuration: Configuration, on loop: any EventLoop, and others: [any EventLoop] = [],
    log: Logger = Logger(label: "peer")
  ) async throws -> Peer {
    let addresses = try configuration.addressesToBind()
    let servers = try await StunServers.resolve(configuration.iceServers, on: loop)
    let plan = MediaShard.Plan(
      configuration: configuration, addresses: addresses, stunServers: servers, checkPace: CheckPacer(),
      assignments: ShardAssignments(count: 1 + others.count), departedLimit: max(1, 256 / (1 + others.count)), log: log)
    let (first, source, events) = try await loop.submit {
      // Anyone who sends nothing does not answer what comes, so nobody waits for it.
      let patience: Duration = configuration.sending.isEmpty ? .milliseconds(40) : .zero
      let (source, events) = EventSource.make(on: loop, patience: patience)
      let shard = try MediaShard(
        plan, index: 0, on: loop, emit: { source.add($0) }, turnEnded: { source.yield(now: $0) })
      return (shard, NIOLoopBound(source, eventLoop: loop), events)
    }.get()
    var shards = [first]
    do {
      for (number, other) in others.enumerated() {
        let shard = try await other.submit {
          let forwarder = EventForwarder(to: source, on: loop)
          return try MediaShard(
            plan, index: number + 1, on: other, emit: { forwarder.add($0) },
            turnEnded: { _ in
              forwarder.turnEnded()
              return nil
            })
        }.get()
        shards.append(shard)
      }
    } catch {
      for shard in shards { await shard.close(reason: "Not all sockets could be bound.") }
      throw error
    }
    let all = shards
    try await loop.submit {
      source.value.keyframeNeeded = { for shard in all { shard.perform { $0.requestKeyframe(of: nil) } } }
    }.get()
    return Peer(events: events, shards: shards, assignments: plan.assignments, source: source)
  }

  /// Calls a participant: sends an offer.
  public func offer(to participant: ParticipantID) {
    perform({ $0.offer(to: participant) }, of: participant, on: assignments.assign(participant))
  }

  /// Accepts an event of a signalling channel: sends offers to those who were in the room before us, and passes on what participants
  /// say.
  public func receive(_ event: SignallingEvent) {
    switch event {
    case .joined(_, let others): for other in others { offer(to: other) }
    case .message(let message, let participant): receive(message, from: participant)
    case .participantLeft(let participant, let isReturnVerified):
      participantLeft(participant, returnIsVerified: isReturnVerified)
    case .participantJoined, .connectionLost: break
    }
  }

  /// Takes what a participant said by signalling.
  public func receive(_ message: SignallingMessage, from participant: ParticipantID) {
    // An answer to an offer that nobody remembers begins nothing.
    let isAnswer = if case .answer = message { true } else { false }
    guard let shard = isAnswer ? assignments.shard(of: participant) : assignments.assign(participant) else { return }
    perform({ $0.received(message, from: participant) }, of: participant, on: shard)
  }

  /// Takes what the signalling server says of a participant: they are not in the room any more.
  ///
  /// Their connection ends at once, unless media still comes: then it continues for as long as it does, and for two seconds more,
  /// because it may only be their way to the server that is broken. If they are heard of again, all is as before.
  ///
  /// - Parameter returnIsVerified: whether the server makes sure that nobody else takes their id. If it does not, an offer with
  ///   another certificate that comes under the id is a new connection's.
  public func participantLeft(_ participant: ParticipantID, returnIsVerified: Bool = true) {
    onShard(of: participant) { $0.participantLeft(participant, returnIsVerified: returnIsVerified) }
  }

  /// Sends a frame to everyone; its time is the media time since the source began, on one clock for audio and video.
  public func send(_ frame: EncodedFrame) {
    for shard in shards { shard.perform { $0.send(frame) } }
  }

  /// Sends a frame to one participant only, as in loopback.
  ///
  /// Its time is on its track's own time line, as that of received media is: audio and video are set beside each other by when
  /// they are given here.
  public func send(_ frame: EncodedFrame, to participant: ParticipantID) {
    onShard(of: participant) { $0.send(frame, to: participant) }
  }

  /// Asks a participant for a keyframe.
  public func requestKeyframe(of participant: ParticipantID) {
    onShard(of: participant) { $0.requestKeyframe(of: participant) }
  }

  /// Ends the connection to a participant; nothing happens if there is none.
  ///
  /// - Parameter ending: what ``events`` will say of it.
  public func disconnect(_ participant: ParticipantID, because ending: CloseReason) {
    onShard(of: participant) { $0.disconnect(participant, because: ending) }
  }

  /// How each participant's connection does now.
  public func statistics() async -> [PeerStatistics] {
    var all: [PeerStatistics] = []
    for shard in shards { all += await shard.statistics }
    return all
  }

  /// Says goodbye to everyone, hands out the last events and ends ``events``.
  public func close(reason: String) async {
    for shard in shards { await shard.close(reason: reason) }
    try? await shards[0].loop.submit { [source] in source.value.finish() }.get()
  }

  private func onShard(of participant: ParticipantID, _ work: @escaping @Sendable (PeerDriver) -> Void) {
    if let shard = assignments.shard(of: participant) { perform(work, of: participant, on: shard) }
  }

  /// Does something for a participant on the shard that serves them.
  private func perform(
    _ work: @escaping @Sendable (PeerDriver) -> Void, of participant: ParticipantID, on shard: Int
  ) {
    guard shards.count > 1 else { return shards[shard].perform(work) }
    shards[shard].perform { [assignments] driver in
      work(driver)
      if !driver.isConnecting(to: participant) { assignments.connectionEnded(participant) }
    }
  }
}
