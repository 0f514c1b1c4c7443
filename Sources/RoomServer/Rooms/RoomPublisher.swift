import BotPeer
import Logging
import Media
import SDP
import Synchronization

/// The participant of a room that sends what a client publishes with WHIP.
final class RoomPublisher: Sendable {
  let room: String
  /// The name of the participant; nil if the client gave none.
  private let name: String?
  private let access: RoomAccess
  private let log: Logger
  private let requestKeyframe: @Sendable () -> Void
  private let membership = RoomMembership()
  private let state = Mutex(State())

  private struct State {
    /// The kinds of media of each stream that the client's description has.
    var streams: [Int: Set<MediaKind>] = [:]
    /// The codecs of the client's frames, as we answered its description.
    var codecs: [MediaKind: Codec] = [:]
    var viewers: Set<ParticipantID> = []
    /// What a viewer needs who joins now.
    var recent = RecentFrames()
    var start = StartBuffer()
  }

  init(
    room: String, name: String?, access: RoomAccess, log: Logger,
    requestKeyframe: @escaping @Sendable () -> Void
  ) {
    self.room = room
    self.name = name
    self.access = access
    self.log = log
    self.requestKeyframe = requestKeyframe
  }

  /// Joins the room, unless that has begun or the session has ended.
  func join() async throws {
    var handlers = RoomMember.Handlers()
    handlers.joined = { [self] others in state.withLock { $0.start.joined(others: others.map(\.id)) } }
    handlers.connected = { [self] peer, viewer in
      // Within the lock, so that the first frames precede those that arrive now.
      let hasKeyframe = state.withLock { state in
        let frames = state.start.takeFrames(for: viewer, now: .now)
        for frame in frames { peer.send(frame, to: viewer) }
        let hasKeyframe = frames.contains { $0.codec.kind == .video && $0.isKeyframe }
        if !hasKeyframe {
          for group in state.recent.groups { peer.prime(group, for: viewer) }
        }
        state.viewers.insert(viewer)
        return hasKeyframe
      }
      // A camera that cannot encode answers a request by sending frames again, which everyone would receive.
      if !hasKeyframe { requestKeyframe() }
    }
    handlers.ended = { [self] viewer in state.withLock { _ = $0.viewers.remove(viewer) } }
    handlers.keyframeRequested = requestKeyframe
    let (described, codecs) = state.withLock { ($0.streams, $0.codecs) }
    // Without a description nothing is known, and somebody who sends nothing would be a listener.
    let streams =
      described.isEmpty
      ? [Set(MediaKind.allCases)] : (1...max(1, described.keys.max() ?? 1)).map { described[$0] ?? [] }
    try await membership.begin { [handlers] in
      try await RoomMember.join(
        room, as: name, sending: streams, codecs: codecs, access: access, log: log, handlers)
    }
  }

  /// Offers the room the codecs of the client's media: those of our answer to its description.
  func answered(_ sdp: String) {
    guard let answer = try? SessionDescription(parsing: sdp) else { return }
    state.withLock { $0.codecs = answer.preferredCodecs }
  }

  /// Handles the client's media. Called on the media thread, also before the room is joined.
  func receive(_ event: MediaEvent) {
    switch event {
    case .frame(let frame): forward(frame)
    case .described(let stream):
      state.withLock { $0.streams[stream.number, default: []].formUnion(stream.tracks.keys) }
    case .clock, .recovering, .statistics: break
    }
  }

  /// Sends a frame to everyone in the room.
  private func forward(_ frame: EncodedFrame) {
    let viewers = state.withLock { state in
      state.start.add(frame)
      _ = state.recent.add(frame)
      return Array(state.viewers)
    }
    // Not within the lock, because the frame is sent before the call returns. On this thread it overtakes nothing that was
    // sent within the lock.
    membership.member?.peer.send(frame, to: viewers)
  }

  func leave() async { await membership.end() }
}
