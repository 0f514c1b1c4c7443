package import BotPeer
package import Media
package import Recorder
package import Signalling

/// What happens to the users of a call, from which its ``SessionSummary`` is made. Pure: events with their times in, a value out.
///
/// Texts of others are cut here, so the memory is bounded: by ``SessionSummary/maximumUsers`` users with a few lines each, and by the
/// files of their recordings.
package struct SessionLog: Sendable {
  /// A user, and how far the call with them came.
  private struct User {
    var id: ParticipantID
    var name: String?
    var from: MonotonicInstant
    /// When they were gone; nil while they are there.
    var to: MonotonicInstant?
    var stays = 1
    var isInRoom = false
    /// Whether there is a connection to them, established or not.
    var isCalled = false
    var isMediaServer = false
    var hasConnected = false
    /// What they announced to send; nil before descriptions were exchanged.
    var announced: Set<MediaKind>?
    /// The kinds of the media that they offered and that was refused.
    var refusedKinds: Set<MediaKind> = []
    var refused: [String] = []
    /// The sentence of the first media section of theirs that was refused.
    var refusal: String?
    var failure: String?
    var recordings: [SessionSummary.Recording] = []
    var hasTracks = false
    var storageError: String?

    var isThere: Bool { isInRoom || isCalled }
  }

  private let room: String
  /// The id of the recordings' session; nil if nothing is to be recorded.
  private let session: String?
  private let clock: WallClock
  private var begin: MonotonicInstant
  private var users: [User] = []
  private var positions: [ParticipantID: Int] = [:]
  private var omittedCount = 0
  /// The number of files that are listed.
  private var fileCount = 0

  package static let maximumText = 200
  private static let maximumRefused = 8

  /// - Parameters:
  ///   - room: the room's name; up to 200 bytes are kept.
  ///   - session: that of the recordings; nil if nothing is to be recorded.
  ///   - clock: gives each moment its date.
  package init(room: String, session: RecordingSession?, clock: WallClock, now: MonotonicInstant) {
    self.room = room.prefix(utf8Bytes: Self.maximumText)
    self.session = session?.id
    self.clock = clock
    begin = now
  }

  /// The stay in the room begins; seconds are counted from here.
  package mutating func begin(now: MonotonicInstant) { begin = now }

  // MARK: Events

  /// Takes an event of the signalling.
  package mutating func received(_ event: SignallingEvent, now: MonotonicInstant) {
    switch event {
    case .joined(_, let others):
      // After a lost connection: who is not there any more may have left meanwhile.
      let present = Set(others.map(\.id))
      for index in users.indices where users[index].isInRoom && !present.contains(users[index].id) {
        users[index].isInRoom = false
        // They may have lost the server, too; their connection says when they are gone.
        if !users[index].isCalled { users[index].to = now }
      }
      for other in others { announce(other, now: now) }
    case .participantJoined(let participant): announce(participant, now: now)
    case .participantLeft(let id, _):
      guard let index = positions[id] else { break }
      users[index].isInRoom = false
      users[index].to = now
    case .message, .iceServers, .connectionLost, .rejected, .closed: break
    }
  }

  private mutating func announce(_ participant: SignalledParticipant, now: MonotonicInstant) {
    // One who may not be there yet is seen when they are connected.
    if participant.isExpected, positions[participant.id] == nil { return }
    guard let index = arrive(participant.id, now: now) else { return }
    users[index].isInRoom = !participant.isExpected
    users[index].isMediaServer = participant.direction == .sendOnly
    if let name = participant.name { users[index].name = name.prefix(utf8Bytes: Self.maximumText) }
  }

  /// Takes an event of the connection to a participant.
  ///
  /// - Parameter announcement: what the signalling says of the participant.
  package mutating func received(
    _ event: PeerEvent, of participant: ParticipantID, announcement: SignalledParticipant?, now: MonotonicInstant
  ) {
    let isNews: Bool =
      switch event {
      case .stateChanged(.connected), .sectionRejected, .mediaAnnounced: true
      default: false
      }
    guard let index = isNews ? arrive(participant, now: now) : positions[participant] else { return }
    if users[index].name == nil { users[index].name = announcement?.name?.prefix(utf8Bytes: Self.maximumText) }
    if announcement?.direction == .sendOnly { users[index].isMediaServer = true }
    switch event {
    case .stateChanged(.connecting): users[index].isCalled = true
    case .stateChanged(.connected):
      users[index].isCalled = true
      users[index].hasConnected = true
    case .mediaAnnounced(let kinds):
      users[index].isCalled = true
      users[index].announced = kinds
    case .sectionRejected(let section): refuse(section, index)
    case .ended(let reason):
      users[index].isCalled = false
      if reason.cause != .closedByUs { users[index].failure = reason.sentence.prefix(utf8Bytes: Self.maximumText) }
      if !users[index].isInRoom { users[index].to = now }
    default: break
    }
  }

  private mutating func refuse(_ section: RejectedSection, _ index: Int) {
    guard section.isUnexpected else { return }
    let sentence = section.description
    if section.reason != .rejectedByParticipant, let kind = MediaKind(rawValue: section.kind) {
      users[index].refusedKinds.insert(kind)
      users[index].refusal = users[index].refusal ?? sentence
    }
    if users[index].refused.count < Self.maximumRefused, !users[index].refused.contains(sentence) {
      users[index].refused.append(sentence)
    }
  }

  /// Takes a finished recording.
  package mutating func recorded(_ summary: RecordingSummary) {
    guard let index = positions[summary.participant] else { return }
    let manifest = summary.manifest
    if !manifest.tracks.isEmpty, !manifest.files.isEmpty { users[index].hasTracks = true }
    if let error = summary.storageError { users[index].storageError = error.description.prefix(utf8Bytes: 300) }
    guard users[index].recordings.count < SessionSummary.maximumRecordings else { return }
    let allowance = max(0, min(SessionSummary.maximumFiles, SessionSummary.maximumFilesOfAll - fileCount))
    fileCount += min(allowance, manifest.files.count)
    let files = manifest.files.prefix(allowance).map {
      SessionSummary.File(name: $0.name, kind: $0.kind, duration: $0.duration, bytes: $0.bytes)
    }
    users[index].recordings.append(
      SessionSummary.Recording(
        manifest: "\(summary.base).json", stream: summary.stream, start: manifest.start, duration: manifest.duration,
        files: files, fileCount: manifest.files.count, problemCount: manifest.problems.count))
  }

  /// Returns the index of a participant who is there; nil if there are too many.
  private mutating func arrive(_ id: ParticipantID, now: MonotonicInstant) -> Int? {
    if let index = positions[id] {
      if users[index].to != nil, !users[index].isThere { users[index].stays += 1 }
      users[index].to = nil
      return index
    }
    guard users.count < SessionSummary.maximumUsers else {
      omittedCount += 1
      return nil
    }
    positions[id] = users.count
    users.append(User(id: id, from: now))
    return users.count - 1
  }

  // MARK: The result

  /// Returns the summary of a call that ends now.
  package func summary(endReason: RoomCall.EndReason, now: MonotonicInstant) -> SessionSummary {
    var summary = SessionSummary(
      room: room, session: session, start: clock.text(at: begin), end: clock.text(at: now), duration: seconds(at: now),
      endReason: .init(cause: endReason.cause, text: endReason.description.prefix(utf8Bytes: 1_000)),
      recording: session != nil)
    summary.users = users.map { entry(of: $0, now: now) }
    summary.recordedUsers = summary.users.count(where: \.recorded)
    summary.usersOmitted = omittedCount
    return summary
  }

  private func entry(of user: User, now: MonotonicInstant) -> SessionSummary.User {
    let to = min(user.to ?? now, now)
    var entry = SessionSummary.User(
      id: user.id.text.prefix(utf8Bytes: Self.maximumText), name: user.name, from: clock.text(at: user.from),
      to: clock.text(at: to), fromSeconds: seconds(at: user.from), toSeconds: seconds(at: to))
    entry.presentAtEnd = user.to == nil || to == now
    entry.stays = user.stays > 1 ? user.stays : nil
    entry.recorded = user.hasTracks
    entry.refused = user.refused.isEmpty ? nil : user.refused
    entry.recordings = user.recordings.isEmpty ? nil : user.recordings
    if !user.hasTracks {
      let (reason, explanation) = reason(of: user, until: to)
      entry.reason = reason
      entry.explanation = explanation
    }
    return entry
  }

  /// Why a user was not recorded.
  private func reason(of user: User, until end: MonotonicInstant) -> (SessionSummary.Reason, String) {
    guard session != nil else { return (.notRecording, "nobody was to be recorded") }
    if user.isMediaServer { return (.mediaServer, "a media server that only receives what we publish") }
    if let error = user.storageError { return (.disk, error) }
    if let refusal = user.refusal, user.refusedKinds.isSuperset(of: user.announced ?? []) || !user.hasConnected {
      return (.refused, refusal)
    }
    let stay = end - user.from
    if user.to != nil, stay < .seconds(1) {
      return (.leftAtOnce, "left after \(DisplayText.tenths(stay.seconds)) s, before media arrived")
    }
    if user.hasConnected {
      return user.announced == []
        ? (.onlyReceives, "announced to send nothing") : (.noMedia, "connected, but sent no media")
    }
    guard user.announced != nil else { return (.noOffer, "neither made nor answered an offer") }
    return (.notConnected, user.failure ?? "the connection was not established before the end of the call")
  }

  private func seconds(at moment: MonotonicInstant) -> Double {
    max(0, ((moment - begin).seconds * 1_000).rounded() / 1_000)
  }
}
