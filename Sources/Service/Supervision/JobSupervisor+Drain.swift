internal import JobProtocol
internal import Logging
internal import Media
internal import NIOCore
internal import OptionValues
internal import SQLStore

/// A node that takes no more jobs, and hands over those that it has.
extension JobSupervisor {
  /// Accepts no more jobs, waits for the end of those that run, hands over or ends what still runs after `drainTimeout`, and returns
  /// when everything is stored.
  package func drain() async {
    guard !isDraining else { return }
    isDraining = true
    for job in Array(jobs.values) { receive(.drain, of: job) }
    let deadline = MonotonicInstant.now + .milliseconds(configuration.drainTimeout.milliseconds)
    if drainPlan == nil {
      drainPlan = NodeDrain(deadline: deadline, isEnding: true, limits: node?.drain ?? NodeDrain.Limits())
    } else {
      drainPlan?.end(deadline: min(deadline, drainPlan?.deadline ?? deadline))
    }
    // The others learn at once that this node takes nothing.
    if isShared { await renew() }
    while !isDetached, hasWork {
      await drainTurn()
      do { try await loop.sleep(for: .milliseconds(100)) } catch { return }
    }
    await detach()
  }

  private var hasWork: Bool {
    !unstoredAttempts.isEmpty || jobs.values.contains { $0.life.hasBegun }
  }

  /// An operator asked this node to take no jobs, or to take jobs again.
  func drained(byOperator isDrained: Bool) {
    guard isDrained != isCordoned else { return }
    isCordoned = isDrained
    logger.notice(isDrained ? "The node takes no more jobs" : "The node takes jobs again")
    guard !isDraining else { return }
    if isDrained {
      drainPlan = NodeDrain(
        deadline: .now + .milliseconds(configuration.drainTimeout.milliseconds), isEnding: false,
        limits: node?.drain ?? NodeDrain.Limits())
    } else {
      let offers = drainPlan?.offers ?? []
      Task { [self] in
        for job in offers { await withdraw(job) }
        if !isCordoned { forgetDrain() }
      }
    }
  }

  private func forgetDrain() { if !isDraining { drainPlan = nil } }

  /// Offers jobs, withdraws offers and ends jobs.
  func drainTurn() async {
    guard drainPlan != nil, !isInDrainTurn, !isDetached else { return }
    isInDrainTurn = true
    defer { isInDrainTurn = false }
    let now = MonotonicInstant.now
    if isShared, now >= nextNodesLook, now >= drainPlan?.deadline ?? now {
      nextNodesLook = now + .seconds(2)
      hasSuccessor = await hasOtherNode()
    }
    let own = jobs.values.filter(\.life.hasBegun).map { job in
      let canMove = job.request.kind != .check
      return NodeDrain.RunningJob(
        id: job.id, isMovable: canMove && job.life.isMovable, isBeginning: canMove && job.life.isBeginning)
    }
    let actions = drainPlan?.next(own, hasSuccessor: hasSuccessor && !presence.isCutOff, at: now) ?? []
    for action in actions where !isDetached {
      switch action {
      case .offer(let id): await offer(id)
      case .withdraw(let id): await withdraw(id)
      case .end(let id): receive(.drainIsOver, of: id)
      }
    }
    // Whether somebody has taken what was offered.
    guard now >= nextOwnerLook, let offers = drainPlan?.offers, !offers.isEmpty else { return }
    nextOwnerLook = now + .seconds(1)
    for id in offers {
      guard let serial = jobs[id]?.serial else { continue }
      do { try await checkOwner(of: id, serial) } catch { report(error) }
    }
  }

  private func offer(_ id: JobID) async {
    guard let job = jobs[id], let attempt = job.attempt else { return }
    do {
      let (serial, isOffered) = (job.serial, try await store.offer(id, attempt: attempt.id))
      if !isOffered { try await checkOwner(of: id, serial) }
    } catch {
      report(error)
    }
  }

  private func withdraw(_ id: JobID) async {
    guard let job = jobs[id], let attempt = job.attempt else { return }
    do {
      let (serial, isOwn) = (job.serial, try await store.withdraw(id, attempt: attempt.id))
      guard !isOwn else { return }
      drainPlan?.wasTaken(id)
      try await checkOwner(of: id, serial)
    } catch {
      report(error)
    }
  }
}

extension JobLifecycle {
  /// Whether it has begun and has not ended: what a service that ends waits for.
  var hasBegun: Bool {
    switch phase {
    case .scheduled, .queued, .asking, .over: false
    case .notingAttempt, .launching, .alive, .waiting, .storing, .storingAgain: true
    }
  }

  /// Whether its next process has not started yet.
  var isBeginning: Bool {
    guard stop == nil else { return false }
    switch phase {
    case .notingAttempt, .launching, .waiting: return true
    case .scheduled, .queued, .asking, .alive, .storing, .storingAgain, .over: return false
    }
  }

  /// Whether another node can go on with it.
  var isMovable: Bool {
    guard stop == nil, case .alive(let process) = phase else { return false }
    return process.ended == nil
  }
}
