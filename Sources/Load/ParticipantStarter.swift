internal import BotPeer
internal import Logging
internal import Media
internal import NIOCore

/// Starts the publishers of a load, and has the parts that they share.
struct PublisherStarter: Sendable {
  let publisherGroup: PublisherGroup
  let broadcaster: FrameBroadcaster
  private let settings: RoomLoad.Settings
  private let publisherRegistry: PublisherRegistry
  private let loops: [any EventLoop]
  private let log: Logger

  /// - Parameter loops: At least one.
  init(
    _ settings: RoomLoad.Settings, source: any FrameSource, on loops: [any EventLoop], log: Logger
  ) async throws {
    self.settings = settings
    self.loops = loops
    self.log = log
    publisherGroup = PublisherGroup(source: source, size: settings.publishers)
    publisherRegistry = PublisherRegistry(callEachOther: settings.receives)
    broadcaster = try await FrameBroadcaster(
      loops: loops, stagger: StaggerSchedule(publishers: settings.publishers, isLive: source.isLive))
  }

  /// Binds the sockets of a publisher, which has not joined yet.
  func start(_ index: Int) async throws -> LoadPublisher {
    let source = publisherGroup.source
    var configuration = settings.peerConfiguration(of: index)
    configuration.sending = source.kinds
    configuration.receiving = settings.receives ? Set(MediaKind.allCases) : []
    configuration.keyframeResponse = source.isLive ? .requestFromSource : .replay
    var quietly = log
    quietly.logLevel = max(log.logLevel, .warning)
    let loop = loops[index % loops.count]
    let client = try settings.makeClient(index, quietly)
    let peer = try await Peer.start(configuration, on: loop, log: quietly)
    let publisher = LoadPublisher(
      index: index, peer: peer, client: client, publisherRegistry: publisherRegistry, publisherGroup: publisherGroup,
      probe: settings.dataBitrate.map { DataProbe(bitrate: $0, on: loop) }, log: log)
    publisherGroup.add(publisher)
    broadcaster.add(peer, index: index, on: loop)
    return publisher
  }
}
