import BotPeer
import Logging
import Media
import Room
import Signalling
import Synchronization

/// A participant of a room that this server adds: for a publisher of WHIP, or to listen for players of WHEP.
final class RoomMember: Sendable {
  /// What happens in the room.
  struct Handlers: Sendable {
    /// The room was joined, and these were in it. Called before any of them is connected; again after a reconnection.
    var joined: @Sendable ([SignalledParticipant]) -> Void = { _ in }
    /// Somebody joined the room, or left it.
    var entered: @Sendable (SignalledParticipant) -> Void = { _ in }
    var left: @Sendable (ParticipantID) -> Void = { _ in }
    var connected: @Sendable (Peer, ParticipantID) -> Void = { _, _ in }
    var ended: @Sendable (ParticipantID) -> Void = { _ in }
    var keyframeRequested: @Sendable () -> Void = {}
    var frame: @Sendable (EncodedFrame, ParticipantID) -> Void = { _, _ in }
  }

  private let session: RoomSession
  private let task: Task<Void, Never>

  var peer: Peer { session.peer }

  /// Joins a room.
  ///
  /// - Parameters:
  ///   - name: the name that the others see; nil for none.
  ///   - streams: the kinds of media of each stream that it sends; `codecs`, those of the frames, where they are known.
  static func join(
    _ room: String, as name: String?, sending streams: [Set<MediaKind>], codecs: [MediaKind: Codec] = [:],
    access: RoomAccess, log: Logger, _ handlers: Handlers
  ) async throws -> RoomMember {
    let sending = streams.first ?? []
    let client = try access.client(room: room, name: name, log: log)
    var configuration = access.peerConfiguration()
    configuration.sending = sending
    configuration.sendingCodecs = codecs
    configuration.furtherStreams = Array(streams.dropFirst())
    configuration.receiving = sending.isEmpty ? Set(MediaKind.allCases) : []
    configuration.mediaSinks = [FrameSink(receive: handlers.frame)]
    let publisher = sending.isEmpty ? nil : OwnPublisher(access.publishers)
    var policy = RoomPolicy()
    // A room that is full may not be so later.
    policy.endsIfNotAdmitted = false
    policy.filter = { event in
      guard let publisher else { return event }
      if case .joined(let id, _) = event { publisher.replaceID(by: id) }
      return access.publishers.removed(from: event)
    }
    let peer = try await Peer.start(configuration, on: access.loop, log: log)
    let session = RoomSession(client: client, peer: peer, policy: policy)
    do {
      try await session.join()
    } catch {
      await peer.close(reason: "The room was not joined.")
      throw error
    }
    var log = log
    log[metadataKey: "room"] = "\(room.printable())"
    return RoomMember(session, handlers, publisher: publisher, log: log)
  }

  private init(_ session: RoomSession, _ handlers: Handlers, publisher: OwnPublisher?, log: Logger) {
    self.session = session
    task = Task {
      // Each participant of the room can cause them.
      var limiter = LogRateLimiter(perSecond: 1, burst: 20)
      func warn(_ sentence: String, of participant: ParticipantID) {
        guard limiter.consume(now: .now) != nil else { return }
        log.warning("\(sentence)", metadata: ["participant": "\(participant)"])
      }
      await session.run { event in
        switch event {
        case .signalling(.joined(_, let others)): handlers.joined(others)
        case .signalling(.participantJoined(let participant)): handlers.entered(participant)
        case .signalling(.participantLeft(let id, _)): handlers.left(id)
        case .connection(let event):
          switch event.event {
          case .stateChanged(.connected): handlers.connected(session.peer, event.participant)
          case .keyframeRequested: handlers.keyframeRequested()
          case .ended: handlers.ended(event.participant)
          // For example that a viewer does not accept the codec of what is published.
          case .problem(let sentence): warn(sentence, of: event.participant)
          case .sectionRejected(let section) where section.isActive: warn(section.description, of: event.participant)
          default: break
          }
        case .signalling, .problem, .ended: break
        }
      }
      publisher?.replaceID(by: nil)
    }
  }

  func leave() async {
    await session.leave(because: "The session has ended.")
    await task.value
  }
}

/// The id of one of the participants that send what clients publish.
private final class OwnPublisher: Sendable {
  private let publishers: RoomPublisherIDs
  private let id = Mutex<ParticipantID?>(nil)

  init(_ publishers: RoomPublisherIDs) {
    self.publishers = publishers
  }

  /// Registers another id for this participant; nil when it has left.
  func replaceID(by new: ParticipantID?) {
    id.withLock { id in
      publishers.replace(id, by: new)
      id = new
    }
  }
}

/// Passes on the frames of all participants.
private struct FrameSink: MediaSink {
  let receive: @Sendable (EncodedFrame, ParticipantID) -> Void

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    if case .frame(let frame) = event { receive(frame, participant) }
  }
}
