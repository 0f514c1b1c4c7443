internal import BotPeer
internal import Call
internal import Glibc
internal import JobProtocol
internal import Media
internal import NIOPosix
internal import Recorder
internal import Synchronization

/// What the control socket asks for.
extension RunningJob {
  var handlers: ControlServer.Handlers {
    ControlServer.Handlers(
      hello: { [self] in hello }, status: { [self] in await status() },
      pause: { [self] users in await change(isPaused: true, users) },
      resume: { [self] users in await change(isPaused: false, users) },
      snapshot: { [self] user, stream in await snapshot(of: user, stream: stream) },
      stop: { [self] reason in
        let reason = reason ?? .stopped
        end(JobResult(reason, exitCode: 0, "The job was stopped."))
      },
      servicesChanged: { [self] count in
        state.withLock { state in
          state.services = count
          state.aloneSince = count > 0 ? nil : .now
        }
      })
  }

  private var hello: ControlAnswer.Hello {
    ControlAnswer.Hello(
      version: version, job: specification.job, attempt: specification.attempt, attemptID: specification.attemptID,
      process: getpid())
  }

  // MARK: Pause

  /// Pauses or resumes users, one request after another.
  ///
  /// A pause is applied and then stored, a resume is stored and then applied: where one of both fails, users stay paused.
  private func change(isPaused: Bool, _ users: [String]?) async -> Result<JournalEvent.PauseChange, ControlError> {
    guard specification.kind == .record else {
      return .failure(ControlError(.notSupported, "A job of the kind \(specification.kind.rawValue) records nothing."))
    }
    if let users {
      guard !users.isEmpty, PauseState.areWithinLimits(users),
        users.allSatisfy({ (1...JobObserver.maximumID).contains($0.utf8.count) })
      else {
        return .failure(
          ControlError(
            .badRequest,
            "A request names 1 to \(PauseState.maximumUsers) users, each with 1 to \(JobObserver.maximumID) bytes, "
              + "and all together with at most \(PauseState.maximumBytes)."))
      }
    }
    return await pausing.run { [self] in isPaused ? await pause(users) : await resume(users) }
  }

  private func pause(_ users: [String]?) async -> Result<JournalEvent.PauseChange, ControlError> {
    let (call, named, next) = state.withLock { state -> (RoomCall?, [String]?, PauseState) in
      state.paused.pause(users)
      // More users than can be named are everybody.
      if state.paused.isWithinLimits { return (state.call, users, state.paused) }
      state.paused = PauseState(all: true)
      return (state.call, nil, state.paused)
    }
    var change = call?.pause(named.map { Set($0) })
    keyframes.pausesChanged(of: change?.participants, now: .now)
    if let paused = change?.paused, !paused.all, PauseState(paused).all {
      change = call?.pause(nil)
      keyframes.pausesChanged(of: change?.participants, now: .now)
    }
    let stored = change.map { PauseState($0.paused) } ?? next
    state.withLock { $0.paused = stored }
    let entry = JournalEvent.PauseChange(users: named, effectiveAt: change?.milliseconds ?? JobClock.now, state: stored)
    guard await journal.appendDurably(.paused(entry)) else {
      return .failure(ControlError(.failed, "The pause is in effect, but could not be written."))
    }
    return .success(entry)
  }

  private func resume(_ users: [String]?) async -> Result<JournalEvent.PauseChange, ControlError> {
    let (call, observer, now) = state.withLock { ($0.call, $0.observer, $0.paused) }
    // A pause names users who were there by id and name, so that they stay paused when they come back.
    let present = observer?.users ?? [:]
    let named = users.map { users in
      now.all
        ? users
        : users
          + present.filter { user, name in users.contains(user.text) || name.map(users.contains) ?? false }
          .flatMap { user, name in [user.text] + [name].compactMap(\.self) }
    }
    var next = now
    next.resume(named)
    guard next.isWithinLimits else {
      return .failure(ControlError(.failed, "So many users cannot be named, so these stay paused."))
    }
    var entry = JournalEvent.PauseChange(users: users, effectiveAt: JobClock.now, state: next)
    guard await journal.appendDurably(.resumed(entry)) else {
      return .failure(ControlError(.failed, "The resume could not be written, so users stay paused."))
    }
    state.withLock { $0.paused = next }
    if let change = call?.resume(users.map { Set($0) }) {
      keyframes.pausesChanged(of: change.participants, now: .now)
      entry.effectiveAt = change.milliseconds
    }
    return .success(entry)
  }

  /// Makes a call begin with who is paused.
  func apply(_ paused: PauseState, to call: RoomCall) {
    if paused.all {
      call.pause(nil)
      if !paused.resumedUsers.isEmpty { call.resume(Set(paused.resumedUsers)) }
    } else if !paused.users.isEmpty {
      call.pause(Set(paused.users))
    }
  }

  // MARK: Snapshots

  /// A user's snapshots are so far apart at least.
  private static let snapshotInterval = Duration.seconds(2)
  /// A keyframe that is older is replaced by a new one, for which we wait so long.
  private static let maximumAge = Duration.seconds(10)
  private static let patience = Duration.seconds(2)
  private static let maximumSnapshots = 10_000

  private func snapshot(of user: String, stream: Int?) async -> Result<Snapshot, ControlError> {
    let (id, stream) = (ParticipantID(user), stream ?? 1)
    guard let call = state.withLock(\.call) else { return .failure(ControlError(.notNow, "The job has not begun.")) }
    guard !isPaused(id) else { return .failure(ControlError(.paused, "The user is paused.")) }
    let isAllowed = state.withLock { state in
      let (now, key) = (MonotonicInstant.now, "\(stream) \(user)")
      if let last = state.snapshots[key], now - last < Self.snapshotInterval { return false }
      if state.snapshots.count >= Self.maximumSnapshots { state.snapshots = [:] }
      state.snapshots[key] = now
      return true
    }
    guard isAllowed else { return .failure(ControlError(.tooSoon, "There is one snapshot of a user in 2 s.")) }
    let asked = MonotonicInstant.now
    var frame = keyframes.last(of: id, stream: stream)
    if frame.map({ asked - $0.arrived > Self.maximumAge }) ?? true {
      call.peer.requestKeyframe(of: id)
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      while MonotonicInstant.now - asked < Self.patience, frame.map({ $0.arrived < asked }) ?? true {
        try? await loop.sleep(for: .milliseconds(50))
        frame = keyframes.last(of: id, stream: stream)
      }
    }
    guard let frame else { return .failure(ControlError(.notFound, "There is no frame of the user's stream.")) }
    let age = MonotonicInstant.now - frame.arrived
    let time = JobClock.now - Int64(age.seconds * 1_000)
    let result = try? await NIOThreadPool.singleton.runIfActive { () -> Result<Snapshot, ControlError> in
      do throws(ControlError) { return .success(try LastKeyframes.snapshot(of: frame, time: time)) } catch {
        return .failure(error)
      }
    }
    // They may have been paused meanwhile.
    guard !isPaused(id) else { return .failure(ControlError(.paused, "The user is paused.")) }
    return result ?? .failure(ControlError(.failed, "The frame cannot be decoded."))
  }
}

extension RoomCall.PauseChange {
  /// From when it counts, in milliseconds since 1970.
  fileprivate var milliseconds: Int64 { Int64((max(0, min(secondsSince1970, 1e10)) * 1_000).rounded()) }
}

extension PauseState {
  /// The state of a recorder. More users than the protocol can name are everybody.
  init(_ paused: PausedUsers) {
    func sorted(_ users: Set<String>) -> [String] { users.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    let state = PauseState(all: paused.all, users: sorted(paused.users), resumedUsers: sorted(paused.resumed))
    self = state.isWithinLimits ? state : PauseState(all: true)
  }
}

extension PausedUsers {
  init(_ state: PauseState) {
    self.init(all: state.all, users: Set(state.users), resumed: Set(state.resumedUsers))
  }
}
