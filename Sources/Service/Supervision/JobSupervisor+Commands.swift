internal import FoundationEssentials
internal import JSON
internal import JobProtocol
internal import Media
internal import NIOCore
package import SQLStore

extension JobSupervisor {
  package func commandRequested(_ command: Int64, of job: JobID) {
    Task { [self] in await readCommands(of: job) }
  }

  package func isDone(_ command: Int64, within limit: Duration) async -> Bool {
    let promise = loop.makePromise(of: Bool.self)
    commandWaiters[command, default: []].append(promise)
    // The command may have been done before this was asked.
    if (try? await store.command(command))?.doneAt != nil || isDetached { promise.succeed(true) }
    let timer = loop.scheduleTask(in: TimeAmount(limit)) { promise.succeed(false) }
    if isShared { watch(command, promise, until: .now + limit) }
    let isDone = (try? await promise.futureResult.get()) ?? false
    timer.cancel()
    commandWaiters[command]?.removeAll { $0.futureResult === promise.futureResult }
    if commandWaiters[command]?.isEmpty == true { commandWaiters[command] = nil }
    return isDone
  }

  /// Looks whether another node has carried out a command.
  private func watch(_ command: Int64, _ promise: EventLoopPromise<Bool>, until end: MonotonicInstant) {
    Task { [self, store, loop] in
      while MonotonicInstant.now < end, isWaitedFor(command) {
        do { try await loop.sleep(for: .milliseconds(250)) } catch { return }
        if let found = try? await store.command(command), found.doneAt != nil { return promise.succeed(true) }
      }
    }
  }

  private func isWaitedFor(_ command: Int64) -> Bool { commandWaiters[command] != nil && !isDetached }

  /// Carries out the commands that are not done; those of one job only, or of all.
  func readCommands(of job: JobID? = nil) async {
    guard isStarted, !isDetached else { return }
    do {
      for command in try await waitingCommands(of: job) {
        // Without a process nobody else knows under which names users are paused.
        let needsNames = command.kind == .resume && jobs[command.job].map { !$0.life.hasProcess } ?? false
        let joined = needsNames ? try await store.joinedParticipants(of: command.job) : []
        guard !isDetached else { return }
        if let job = jobs[command.job] {
          carryOut(command, of: job, joined: joined)
        } else if let record = try await store.job(command.job), !record.state.isEnded {
          if isShared, record.node == nil { try await carryOutIdle(command) }
        } else {
          try await completeLate(command)
        }
      }
    } catch {
      report(error)
    }
  }

  private func waitingCommands(of job: JobID?) async throws -> [CommandRecord] {
    guard let node, isShared else { return try await store.waitingCommands(of: job) }
    return try await store.waitingCommands(node: node.name).filter { job == nil || $0.job == job }
  }

  /// A command of a job that no node has claimed yet.
  private func carryOutIdle(_ command: CommandRecord) async throws {
    let argument = CommandArgument(stored: command.argument)
    let change: JobStore.IdleChange
    switch (command.kind, argument) {
    case (.stop, _): change = .stop
    case (.pause, let argument): change = .pause(argument?.users)
    case (.resume, let argument?): change = .resume(argument.users)
    case (.resume, nil):
      try await store.complete(command.id, result: try CommandResult(error: Self.unreadable).stored)
      return commandIsDone(command.id)
    }
    let isStop = command.kind == .stop
    let failure = try CommandResult(error: "The job has too many paused users.").stored
    let isDone = try await store.carryOut(
      change, command: command.id, of: command.job,
      result: { try CommandResult(effectiveAt: isStop ? nil : $0).stored }, failure: failure)
    if isDone { commandIsDone(command.id) }
  }

  private static let unreadable = "The command cannot be read."

  /// - Parameter joined: the data of the events of users who joined; empty while a process lives, which knows them.
  private func carryOut(_ command: CommandRecord, of job: SupervisedJob, joined: [String]) {
    guard job.commands.insert(command.id).inserted else { return }
    let argument = CommandArgument(stored: command.argument)
    switch (command.kind, argument) {
    case (.stop, _): receive(.stop(command: command.id), of: job)
    // What cannot be read pauses everybody, and resumes nobody.
    case (.pause, let argument): receive(.changePause(.pause(argument?.users), command: command.id), of: job)
    case (.resume, let argument?):
      let users = job.life.pause.all ? argument.users : argument.users.map { JoinedUser.all(of: $0, in: joined) }
      receive(.changePause(.resume(users), command: command.id), of: job)
    case (.resume, nil): complete(command.id, .failed(Self.unreadable), of: job)
    }
  }

  /// A command of a job that has ended.
  private func completeLate(_ command: CommandRecord) async throws {
    let result = command.kind == .stop ? CommandResult() : CommandResult(error: "The job has ended.")
    try await store.complete(command.id, result: result.stored)
    commandIsDone(command.id)
  }

  /// Writes the result of a command, after all that was written for it.
  func complete(_ command: Int64, _ outcome: JobLifecycle.CommandOutcome, of job: SupervisedJob) {
    if command < 0 { return noteLocal(command, outcome, of: job) }
    let fence = job.fence
    job.enqueue { [self, store] in
      let isWritten = await untilItSucceeds {
        let result: CommandResult =
          switch outcome {
          case .done: CommandResult()
          case .effective(let time?): CommandResult(effectiveAt: time)
          case .effective(nil): CommandResult(effectiveAt: try await store.now())
          case .failed(let sentence): CommandResult(error: sentence)
          }
        return try await store.complete(command, result: result.stored, attempt: fence)
      }
      await commandIsDone(command, isWritten: isWritten == true)
    }
  }

  private func commandIsDone(_ command: Int64, isWritten: Bool) {
    // Otherwise another node may have the job, and carries the command out: who waits for it looks at the database.
    if isWritten || !isShared { commandIsDone(command) }
  }

  private func commandIsDone(_ command: Int64) {
    for promise in commandWaiters.removeValue(forKey: command) ?? [] { promise.succeed(true) }
  }
}

/// The argument of a command, as the database keeps it.
package struct CommandArgument: Sendable, Hashable, Codable {
  /// The users that are paused or resumed; nil for all.
  package var users: [String]?

  package init(users: [String]? = nil) { self.users = users }

  /// - Returns: nil if the text cannot be read.
  package init?(stored text: String) {
    guard let argument = try? JSONReader.decode(Self.self, from: text, within: storedLimits) else { return nil }
    self = argument
  }

  /// JSON for the database.
  package var stored: String { get throws { try json(self) } }
}

/// A user who joined, as the data of its event says.
package struct JoinedUser: Sendable, Hashable, Codable {
  package var user: String
  package var name: String?

  /// Returns users with all ids and names that they had, as far as events say so: pausing a user by id also paused the name, and the other
  /// way round.
  ///
  /// - Parameters:
  ///   - users: ids and names.
  ///   - joined: the data of events, in JSON.
  package static func all(of users: [String], in joined: [String]) -> [String] {
    var seen = Set(users.map { UntrustedText($0) })
    let wanted = seen
    var all = users
    for text in joined {
      guard let one = try? JSONReader.decode(Self.self, from: text, within: storedLimits) else { continue }
      let names = [one.user] + [one.name].compactMap(\.self)
      guard names.contains(where: { wanted.contains(UntrustedText($0)) }) else { continue }
      for name in names where seen.insert(UntrustedText(name)).inserted { all.append(name) }
    }
    return PauseState.areWithinLimits(all) ? all : users
  }
}

/// The result of a command, as the database keeps it.
package struct CommandResult: Sendable, Hashable, Codable {
  /// When a pause or a resumption took effect, in milliseconds since 1970.
  package var effectiveAt: Int64?
  /// Why the command failed; a sentence.
  package var error: String?

  package init(effectiveAt: Int64? = nil, error: String? = nil) {
    self.effectiveAt = effectiveAt
    self.error = error
  }

  package init(stored text: String) {
    self =
      (try? JSONReader.decode(Self.self, from: text, within: storedLimits))
      ?? Self(error: "The result of the command cannot be read.")
  }

  /// JSON for the database.
  package var stored: String { get throws { try json(self) } }
}

/// The limits of what this service has written itself.
private let storedLimits = JSONLimits(bytes: 1 << 20, values: 10_000)

private func json(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}
