internal import BotPeer
internal import Logging
internal import Media
internal import NIOCore

/// Starts the publishers and viewers of a load, and has the parts that they share.
struct ParticipantStarter: Sendable {
  let members: ParticipantGroup
  let broadcaster: FrameBroadcaster
  private let settings: RoomLoad.Settings
  private let registry: LoadRegistry
  private let loops: [any EventLoop]
  private let log: Logger

  /// - Parameter loops: At least one.
  init(
    _ settings: RoomLoad.Settings, source: (any FrameSource)?, on loops: [any EventLoop], log: Logger
  ) async throws {
    self.settings = settings
    self.loops = loops
    self.log = log
    members = ParticipantGroup(source: source, size: settings.participants)
    registry = LoadRegistry(callEachOther: settings.receives, publishers: settings.publishers)
    broadcaster = try await FrameBroadcaster(
      loops: loops, stagger: StaggerSchedule(publishers: settings.publishers, isLive: source?.isLive ?? false))
  }

  /// Binds the sockets of a participant, who has not joined yet.
  func start(_ index: Int) async throws -> LoadParticipant {
    let role = settings.role(of: index)
    let reception = role == .viewer ? ReceptionCounter() : nil
    var configuration = settings.peerConfiguration(of: index)
    switch role {
    case .publisher:
      configuration.sending = members.source?.kinds ?? []
      configuration.sendingCodecs = members.source?.codecs ?? [:]
      configuration.receiving = settings.receives ? Set(MediaKind.allCases) : []
      configuration.keyframeResponse = members.source?.isLive == true ? .requestFromSource : .replay
    case .viewer:
      configuration.sending = []
      configuration.sendingCodecs = [:]
      configuration.receiving = Set(MediaKind.allCases)
      // What arrived is counted when it arrived; no player waits for it.
      configuration.initialReorderingDelay = .milliseconds(40)
      configuration.mediaSinks = (configuration.mediaSinks ?? []) + [reception].compactMap(\.self)
    }
    var quietly = log
    quietly.logLevel = max(log.logLevel, .warning)
    let loop = loops[index % loops.count]
    let client = try settings.makeClient(index, quietly)
    let peer = try await Peer.start(configuration, on: loop, log: quietly)
    let probe =
      role == .publisher ? settings.dataBitrate.map { DataProbe(bitrate: $0, on: loop) } : nil
    let participant = LoadParticipant(
      index: index, settings: settings, peer: peer, client: client, registry: registry, members: members, probe: probe,
      reception: reception, log: log)
    members.add(participant)
    if role == .publisher { broadcaster.add(peer, index: index, on: loop) }
    return participant
  }
}
