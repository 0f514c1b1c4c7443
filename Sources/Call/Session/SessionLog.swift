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
    /// When they left; nil while they are present.
    var to: MonotonicInstant?
    /// When the present stay began, or the last one.
    var arrived: MonotonicInstant
    /// When the stay before it ended; nil if it is the first.
    var formerTo: MonotonicInstant?
    /// How long the longest of the former stays was.
    var longestStay = Duration.zero
    var stays = 1
    var isInRoom = false
    /// Whether there is a connection to them, established or not.
    var isCalled = false
    /// Whether there is a connection to them that was established.
    var isConnected = false
    var isMediaServer = false
    var hasConnected = false
    /// What they announced to send; nil before descriptions with media were exchanged.
    var announced: Set<MediaKind>?
    /// Whether they sent an offer or an answer, usable or not.
    var hasDescribed = false
    /// The first message of theirs that was refused.
    var problem: String?
    /// The kinds of the media that they offered and that was refused.
    var refusedKinds: Set<MediaKind> = []
    var refused: [String] = []
    /// The sentence of the first media section of theirs that was refused.
    var refusal: String?
    var failure: String?
    var recordings: [SessionSummary.Recording] = []
    var hasTracks = false
    /// Whether the recording of them is paused, or was when they left.
    var isPaused = false
    var storageError: String?

    init(id: ParticipantID, from: MonotonicInstant) {
      self.id = id
      self.from = from
      arrived = from
    }

    /// Begins another stay, unless the user is present.
    mutating func arrive(now: MonotonicInstant) {
      guard let to else { return }
      self.to = nil
      if isInRoom || isConnected { return }
      stays += 1
      longestStay = max(longestStay, to - arrived)
      (arrived, formerTo) = (now, to)
    }

    /// Ends the stay. A user who has left already does not leave later, unless a connection lasted until now.
    mutating func leave(now: MonotonicInstant) {
      if to == nil || isConnected { to = now }
    }
  }

  private let room: String
  /// The id of the recordings' session; nil if nothing is to be recorded.
  private let session: String?
  private let clock: WallClock
  private var begin: MonotonicInstant
  private var users: [User] = []
  private var positions: [ParticipantID: Int] = [:]
  /// The number of arrivals of users who are not in `users`, and those of them who have not left.
  private var omittedCount = 0
  private var omitted: Set<ParticipantID> = []
  /// The number of files that are listed.
  private var fileCount = 0

  package static let maximumText = 200
  private static let maximumOmitted = 100_000
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
      // After a lost connection, users may have left meanwhile.
      let present = Set(others.map(\.id))
      omitted.formIntersection(present)
      for index in users.indices where users[index].isInRoom && !present.contains(users[index].id) {
        users[index].isInRoom = false
        // They may have lost the server, too; the end of their connection says when they are gone.
        if !users[index].isCalled { users[index].leave(now: now) }
      }
      for other in others { announce(other, now: now) }
    case .participantJoined(let participant): announce(participant, now: now)
    case .participantLeft(let id, _):
      omitted.remove(id)
      guard let index = positions[id] else { break }
      users[index].isInRoom = false
      users[index].leave(now: now)
    case .message(let message, let id):
      guard let index = positions[id] else { break }
      switch message {
      case .offer, .answer: users[index].hasDescribed = true
      default: break
      }
    case .iceServers, .connectionLost, .rejected, .closed: break
    }
  }

  private mutating func announce(_ participant: SignalledParticipant, now: MonotonicInstant) {
    if participant.isExpected {
      // A user who is expected is not in the room: their connection says when they come and when they are gone.
      guard let index = positions[participant.id], users[index].isInRoom else { return }
      users[index].isInRoom = false
      if !users[index].isConnected { users[index].leave(now: now) }
      return
    }
    guard let index = arrive(participant.id, now: now) else { return }
    users[index].isInRoom = true
    users[index].isMediaServer = participant.direction == .sendOnly
    if let name = participant.name { users[index].name = name.prefix(utf8Bytes: Self.maximumText) }
  }

  /// Takes an event of the connection to a participant.
  ///
  /// - Parameter announcement: what the signalling says of the participant.
  package mutating func received(
    _ event: PeerEvent, of participant: ParticipantID, announcement: SignalledParticipant?, now: MonotonicInstant
  ) {
    let showsPresence: Bool =
      switch event {
      case .stateChanged(.connected), .sectionRejected, .mediaAnnounced: true
      default: false
      }
    guard let index = showsPresence ? arrive(participant, now: now) : positions[participant] else { return }
    if users[index].name == nil { users[index].name = announcement?.name?.prefix(utf8Bytes: Self.maximumText) }
    if announcement?.direction == .sendOnly { users[index].isMediaServer = true }
    switch event {
    case .stateChanged(.connecting): users[index].isCalled = true
    case .stateChanged(.connected):
      users[index].isCalled = true
      users[index].isConnected = true
      users[index].hasConnected = true
    // Checks begin when descriptions were exchanged.
    case .reached: users[index].hasDescribed = true
    case .mediaAnnounced(let kinds):
      users[index].isCalled = true
      users[index].announced = kinds
    case .sectionRejected(let section): refuse(section, index)
    case .problem(let sentence):
      users[index].problem = users[index].problem ?? sentence.prefix(utf8Bytes: Self.maximumText)
    case .ended(let reason):
      if reason.cause != .closedByUs { users[index].failure = reason.sentence.prefix(utf8Bytes: Self.maximumText) }
      if !users[index].isInRoom { users[index].leave(now: now) }
      users[index].isCalled = false
      users[index].isConnected = false
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

  /// Notes whether the recording of a participant is paused.
  package mutating func setPaused(_ participant: ParticipantID, _ isPaused: Bool) {
    if let index = positions[participant] { users[index].isPaused = isPaused }
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

  /// Returns the index of a participant who is present; nil if there are too many.
  private mutating func arrive(_ id: ParticipantID, now: MonotonicInstant) -> Int? {
    if let index = positions[id] {
      users[index].arrive(now: now)
      return index
    }
    guard users.count < SessionSummary.maximumUsers else {
      // Several events show that a user is present, but it is one arrival. If there are too many for this, each event counts.
      if omitted.contains(id) { return nil }
      if omitted.count < Self.maximumOmitted { omitted.insert(id) }
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
    // While we leave, further users may arrive.
    summary.users = users.filter { $0.from <= now || $0.hasTracks }.map { entry(of: $0, now: now) }
    summary.recordedUsers = summary.users.count(where: \.recorded)
    summary.usersOmitted = omittedCount
    return summary
  }

  private func entry(of user: User, now: MonotonicInstant) -> SessionSummary.User {
    var user = user
    if let formerTo = user.formerTo, user.arrived > now {
      // The last stay began after the end.
      user.to = formerTo
      user.stays -= 1
    }
    let to = min(user.to ?? now, now)
    let from = min(user.from, to)
    var entry = SessionSummary.User(
      id: user.id.text.prefix(utf8Bytes: Self.maximumText), name: user.name, from: clock.text(at: from),
      to: clock.text(at: to), fromSeconds: seconds(at: from), toSeconds: seconds(at: to))
    entry.presentAtEnd = to == now
    entry.stays = user.stays > 1 ? user.stays : nil
    entry.recorded = user.hasTracks
    entry.refused = user.refused.isEmpty ? nil : user.refused
    entry.recordings = user.recordings.isEmpty ? nil : user.recordings
    if !user.hasTracks {
      let (reason, explanation) = reason(of: user, until: to, isPresent: to == now)
      entry.reason = reason
      entry.explanation = explanation
    }
    return entry
  }

  /// Why a user was not recorded.
  ///
  /// - Parameters:
  ///   - end: when the last stay ended.
  ///   - isPresent: whether the end of the call ended it.
  private func reason(
    of user: User, until end: MonotonicInstant, isPresent: Bool
  ) -> (SessionSummary.Reason, String) {
    guard session != nil else { return (.notRecording, "nobody was to be recorded") }
    if user.isMediaServer { return (.mediaServer, "a media server that only receives what we publish") }
    if let error = user.storageError { return (.disk, error) }
    if let refusal = user.refusal, user.refusedKinds.isSuperset(of: user.announced ?? []) {
      return (.refused, refusal)
    }
    let stay = max(user.longestStay, end - user.arrived)
    if !isPresent, stay < .seconds(1) {
      return (.leftAtOnce, "left after \(DisplayText.tenths(stay.seconds)) s, before media arrived")
    }
    if user.hasConnected {
      if user.isPaused, user.announced != [] { return (.paused, "the recording was paused") }
      return user.announced == []
        ? (.onlyReceives, "announced to send nothing") : (.noMedia, "connected, but sent no media")
    }
    let unfinished = "the connection was not established before the end of the call"
    if user.announced != nil { return (.notConnected, user.failure ?? user.problem ?? unfinished) }
    guard user.hasDescribed || user.problem != nil else { return (.noOffer, "neither made nor answered an offer") }
    // What could not be used of the offer is the cause of the failure.
    return (.notConnected, user.problem ?? user.failure ?? unfinished)
  }

  private func seconds(at moment: MonotonicInstant) -> Double {
    max(0, ((moment - begin).seconds * 1_000).rounded() / 1_000)
  }
}
