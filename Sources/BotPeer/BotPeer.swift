internal import ICE
public import Logging
public import Media
public import NIOCore
@_exported public import NetworkEmulation
@_exported public import PeerEngine
internal import RTP

/// A WebRTC participant without a person: connects to any number of others, receives what they send and sends frames to all.
///
/// It neither signals nor stores: ``events`` bring what is to be carried to a participant (``PeerEvent/signal(_:)``) and what
/// arrives (``PeerEvent/media(_:)``); the caller carries it on.
///
/// ```swift
/// let peer = try await BotPeer.start(BotPeer.Configuration(), on: group.next())
/// peer.offer(to: ParticipantID("somebody"))
/// for await happening in peer.events { … }
/// ```
///
/// Calls may be made from anywhere and return at once; all work is done on one event loop.
public final class BotPeer: Sendable {
  /// What happens to all participants, media too unless there is a ``Configuration/handler``; for one reader.
  public let events: ParticipantEvents
  /// The addresses that datagrams are taken at, for example `10.0.0.1:5000`.
  public let localAddresses: [String]

  private let loop: any EventLoop
  private let driver: NIOLoopBound<PeerDriver>
  private let source: NIOLoopBound<EventSource>

  private init(
    events: ParticipantEvents, localAddresses: [String], loop: any EventLoop, driver: NIOLoopBound<PeerDriver>,
    source: NIOLoopBound<EventSource>
  ) {
    self.events = events
    self.localAddresses = localAddresses
    self.loop = loop
    self.driver = driver
    self.source = source
  }

  /// Binds the sockets and makes a new certificate.
  public static func start(
    _ configuration: Configuration, on loop: any EventLoop, log: Logger = Logger(label: "peer")
  ) async throws -> BotPeer {
    let addresses = try configuration.addressesToBind()
    let servers = try await StunServers.resolve(configuration.iceServers, on: loop)
    return try await loop.submit {
      // Whoever sends nothing does not answer what comes, so nobody waits for it.
      let patience: Duration = configuration.sending.isEmpty ? .milliseconds(40) : .zero
      let (source, events) = EventSource.make(on: loop, patience: patience)
      let emit: (ParticipantEvent) -> Void =
        if let handler = configuration.handler {
          { event in
            handler(event)
            if case .media = event.event { return }
            source.add(event)
          }
        } else {
          { source.add($0) }
        }
      let driver = PeerDriver(
        loop: loop, configuration: configuration, log: log, emit: emit, turnEnded: { source.yield(now: $0) })
      source.keyframeNeeded = { [weak driver] in driver?.requestKeyframe(of: nil) }
      let boundDriver = NIOLoopBound(driver, eventLoop: loop)
      let boundSource = NIOLoopBound(source, eventLoop: loop)
      let bound = try driver.bind(addresses, port: configuration.udpPort)
      driver.gatherServerReflexive(from: servers)
      return BotPeer(
        events: events, localAddresses: bound.map(\.description).sorted(), loop: loop, driver: boundDriver,
        source: boundSource)
    }.get()
  }

  /// Calls a participant: sends an offer.
  public func offer(to participant: ParticipantID) {
    onLoop { $0.offer(to: participant) }
  }

  /// Takes what a participant said by signalling.
  public func receive(_ message: SignallingMessage, from participant: ParticipantID) {
    onLoop { $0.received(message, from: participant) }
  }

  /// Takes what the signalling server says of a participant: they are not in the room any more.
  ///
  /// Their connection ends at once, unless media still comes: then it goes on for as long as it does, and for two seconds more,
  /// because it may only be their way to the server that is broken. If they are heard of again, all is as before.
  ///
  /// - Parameter returnIsVerified: whether the server makes sure that nobody else takes their id. If it does not, an offer with
  ///   another certificate that comes under the id is a new connection's.
  public func participantLeft(_ participant: ParticipantID, returnIsVerified: Bool = true) {
    onLoop { $0.participantLeft(participant, returnIsVerified: returnIsVerified) }
  }

  /// Sends a frame to everyone; its time is the media time since the source began, on one clock for sound and picture.
  public func send(_ frame: EncodedFrame) {
    onLoop { $0.send(frame) }
  }

  /// Sends a frame to one participant only, as in loopback.
  ///
  /// Its time is on its track's own time line, as that of received media is: sound and picture are set beside each other by when
  /// they are given here.
  public func send(_ frame: EncodedFrame, to participant: ParticipantID) {
    onLoop { $0.send(frame, to: participant) }
  }

  /// Asks a participant for a keyframe.
  public func requestKeyframe(of participant: ParticipantID) {
    onLoop { $0.requestKeyframe(of: participant) }
  }

  /// Ends the connection to a participant; nothing happens if there is none.
  ///
  /// - Parameter ending: what ``events`` will say of it.
  public func disconnect(_ participant: ParticipantID, because ending: PeerEnding) {
    onLoop { $0.disconnect(participant, because: ending) }
  }

  /// How each participant's connection does now.
  public func statistics() async -> [PeerStatistics] {
    (try? await loop.submit { [driver] in driver.value.statistics }.get()) ?? []
  }

  /// Says goodbye to everyone, hands out the last events and ends ``events``.
  public func close(reason: String) async {
    try? await loop.submit { [driver, source] in
      driver.value.close(reason: reason)
      source.value.finish()
    }.get()
  }

  private func onLoop(_ work: @escaping @Sendable (PeerDriver) -> Void) {
    loop.execute { [driver] in work(driver.value) }
  }
}
