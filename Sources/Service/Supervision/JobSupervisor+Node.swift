internal import FoundationEssentials
internal import JobProtocol
internal import Logging
internal import Media
internal import NIOCore
internal import SQLStore

/// This service among others with the same database.
extension JobSupervisor {
  /// Whether other services may use the database.
  var isShared: Bool { node?.isShared ?? false }

  /// Why a service cannot begin.
  struct NameTaken: Error, CustomStringConvertible {
    var name: String

    var description: String {
      "Another service uses the database as the node \(name): give each a name of its own by “node”."
    }
  }

  /// What attempts of this node have in the database.
  var claimant: JobStore.Claimant? {
    node.map { node in
      let clock = nodeClock.best
      return JobStore.Claimant(
        node: node.name, version: version, clockOffset: clock?.offset, clockError: clock?.error)
    }
  }

  /// Joins the nodes of the database.
  func joinNodes() async throws {
    guard let node else { return }
    guard try await store.join(newNode(node)) else { throw NameTaken(name: node.name) }
    presence = NodePresence(limits: node.presence, at: .now)
    guard isShared, !isListening else { return }
    isListening = true
    store.connection.changes { [weak self] topic in
      guard topic != .events, let self else { return }
      Task { await self.lookSoon() }
    }
  }

  private func newNode(_ node: NodeSettings) -> NewNode {
    NewNode(name: node.name, identity: node.identity, advertise: node.advertise, version: version)
  }

  /// Something has changed in the database.
  private func lookSoon() { presence.lookSoon(at: .now) }

  /// Does what is due: says that the node is there, renews its leases, looks for jobs and commands.
  func nodeTurn() async {
    guard isStarted, !isDetached, !isInNodeTurn else { return }
    isInNodeTurn = true
    defer { isInNodeTurn = false }
    for duty in presence.due(at: .now) where !isDetached {
      switch duty {
      case .renew: await renew()
      case .look: if isShared, !presence.isCutOff { await look() }
      }
    }
  }

  // MARK: Leases

  /// Says that the node is there, and renews its leases.
  func renew() async {
    guard let node else { return }
    let known = jobs.mapValues(\.serial)
    let running = jobs.filter { $0.value.life.hasProcess }.mapValues(\.fence)
    do {
      let sent = Self.milliseconds
      let beat = try await store.heartbeat(
        of: node.name, identity: node.identity, capacity: capacityText, isStopping: isDraining || isDetached)
      guard let beat else {
        // A failover may have lost the row.
        if try await store.join(newNode(node)) { return presence.failed(at: .now) }
        let sentence = NameTaken(name: node.name).description
        if databaseProblem != sentence { logger.error("\(sentence)") }
        databaseProblem = sentence
        // It claims nothing under the name of another service.
        return presence.failed(at: .now)
      }
      nodeClock.add(sent: sent, received: Self.milliseconds, database: beat.now)
      let leases = try await store.renewedLeases(node: node.name)
      let own = Set(leases.keys)
      databaseIsBack()
      drained(byOperator: beat.isDraining)
      guard isShared else { return }
      for (id, serial) in known where !own.contains(id) { try await checkOwner(of: id, serial) }
      // An attempt whose beginning a failover has lost: the database knows an earlier one, and another one follows.
      for (id, attempt) in running where leases[id].map({ $0 != attempt }) == true && jobs[id]?.fence == attempt {
        receive(.superseded, of: id)
      }
      // A claim whose answer was lost.
      for id in own where jobs[id] == nil && known[id] == nil && !isClaiming {
        guard let record = try await store.job(id), record.node == node.name, !isDetached else { continue }
        try await take(record)
      }
    } catch {
      report(error)
    }
  }

  static var milliseconds: Int64 { Int64(clampingRounded: WallClock.read().secondsSince1970 * 1_000) }

  /// Looks whether this node still has a job. One that the database does not know, after a failover that lost it, is nobody's.
  func checkOwner(of id: JobID, _ serial: UInt64) async throws {
    if let record = try await store.job(id) {
      guard !record.state.isEnded, record.node != node?.name else { return }
    }
    receive(.superseded, of: id, serial)
  }

  /// What the other nodes and the page see of the capacity.
  private var capacityText: String {
    let figures = capacity.figures
    var hasRoom = !isDraining && !isCordoned
    for (resource, needed) in capacity.nextJob where (figures[resource]?.free ?? .max) < needed { hasRoom = false }
    if let disk = figures[.disk], disk.used > disk.limit { hasRoom = false }
    var fields: [String: NodeCapacity.Figure] = [:]
    for (resource, figure) in figures {
      fields[resource.rawValue] = NodeCapacity.Figure(used: figure.used, limit: figure.limit)
    }
    return NodeCapacity(hasRoom: hasRoom, jobs: jobs.count, figures: fields).text
  }

  // MARK: The database

  /// The database cannot be reached, or has failed.
  func report(_ error: any Error) {
    let sentence = "\(error)"
    if databaseProblem != sentence { logger.error("The database: \(sentence)") }
    databaseProblem = sentence
    guard node != nil, (error as? SQLError)?.kind != .constraint else { return }
    let wasCutOff = presence.isCutOff
    presence.failed(at: .now)
    if !wasCutOff { for job in Array(jobs.values) { keepPendingPause(of: job) } }
  }

  private func databaseIsBack() {
    if presence.isCutOff { logger.notice("The database is reached again") }
    presence.reached(at: .now)
    databaseProblem = nil
  }

  // MARK: Claims

  private func look() async {
    guard let node else { return }
    do {
      let mayTakeOver = presence.mayTakeOver(at: .now)
      let waiting = try await store.look(node: node.name, takesOver: mayTakeOver)
      databaseIsBack()
      if waiting.commands { await readCommands() }
      if waiting.jobs { try await claim(mayTakeOver) }
      if waiting.endings { try await claimEndings(mayTakeOver) }
      if waiting.attempts || unstoredAttempts.keys.contains(where: { leaving[$0] == nil }) { storeAttempts() }
    } catch {
      report(error)
    }
  }

  /// The number of jobs that are claimed at once.
  private static let claimsAtOnce = 8

  /// Claims the jobs that there is room for.
  private func claim(_ mayTakeOver: Bool) async throws {
    guard let claimant, !isDraining, !isCordoned else { return }
    accounts.freeDisk = disk.free(now: .now)
    isClaiming = true
    defer { isClaiming = false }
    while !isDetached, !isDraining {
      var reservations: [CapacityReservation] = []
      shortage = nil
      while reservations.count < Self.claimsAtOnce {
        do throws(CapacityShortage) {
          reservations.append(CapacityReservation(number: try accounts.reserve()))
        } catch {
          shortage = error
          break
        }
      }
      let limit = reservations.count
      guard limit > 0 else { return }
      var records: [JobRecord] = []
      defer { for reservation in reservations { accounts.release(reservation.number) } }
      records = try await store.claim(claimant, limit: limit, takesOver: mayTakeOver) {
        AttemptDirectory(data: "", job: $0.text, attempt: $1, attemptID: $2).name
      }
      for record in records {
        logger.info("The job is claimed", metadata: ["job": "\(record.id)", "attempt": "\(record.attempt)"])
        try await take(record, reservation: reservations.popLast(), isClaimed: true)
      }
      if records.count < limit { return }
    }
  }

  private func claimEndings(_ mayTakeOver: Bool) async throws {
    guard let claimant else { return }
    if mayTakeOver, !isDraining {
      for record in try await store.claimEndings(claimant, limit: 100) {
        try await take(record, isClaimed: true)
      }
    }
    guard presence.mayEndWaits(at: .now) else { return }
    let sentence = shortage?.description ?? "No node had room for the job in time."
    try await store.endTiredJobs(sentence: sentence)
  }

  /// Whether another node is there that takes jobs.
  func hasOtherNode() async -> Bool {
    guard isShared, let nodes = try? await store.nodes() else { return false }
    return nodes.contains { other in
      other.name != node?.name && other.age < store.lease && !other.isDraining && !other.isStopping
        && (NodeCapacity(text: other.capacity)?.hasRoom ?? true)
    }
  }
}
