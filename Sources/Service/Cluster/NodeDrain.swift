package import Media
package import SQLStore

/// What a node that drains does with the jobs that run: they run on until a deadline, then they are offered to the other nodes, and
/// where no other node takes them, they end in order or run on. Pure.
package struct NodeDrain: Sendable, Hashable {
  package struct Limits: Sendable, Hashable {
    /// How long an offer stands.
    package var offerFor = Duration.seconds(15)
    /// After which time a job that nobody took is offered again by a node that does not end.
    package var offerAgainAfter = Duration.seconds(60)

    package init() {}
  }

  /// A job that has begun and has not ended.
  package struct RunningJob: Sendable, Hashable {
    package var id: JobID
    /// Whether another process can go on with it: it runs, and does not end already.
    package var isMovable: Bool
    /// Whether it has no process at the moment, and will have one soon.
    package var isBeginning: Bool

    package init(id: JobID, isMovable: Bool, isBeginning: Bool = false) {
      self.id = id
      self.isMovable = isMovable
      self.isBeginning = isBeginning
    }
  }

  package enum Action: Sendable, Hashable {
    case offer(JobID)
    /// Withdraw the offer. The node still has the job only if no other node has taken it.
    case withdraw(JobID)
    /// End the job in order.
    case end(JobID)
  }

  private enum Step: Sendable, Hashable {
    case offered(until: MonotonicInstant)
    case refused(until: MonotonicInstant)
    /// Another node took it before the offer was withdrawn.
    case taken
    case ended
  }

  package let limits: Limits
  package private(set) var deadline: MonotonicInstant
  /// Whether the node ends: what nobody takes must end.
  package private(set) var isEnding: Bool
  private var steps: [JobID: Step] = [:]

  package init(deadline: MonotonicInstant, isEnding: Bool, limits: Limits = Limits()) {
    self.deadline = deadline
    self.isEnding = isEnding
    self.limits = limits
  }

  /// The node ends: what was refused is not offered again, and ends.
  package mutating func end(deadline: MonotonicInstant) {
    guard !isEnding else { return }
    isEnding = true
    self.deadline = deadline
  }

  /// Whether a job is offered, or another node has taken it from the offer.
  package func isOffered(_ job: JobID) -> Bool {
    switch steps[job] {
    case .offered, .taken: true
    case .refused, .ended, nil: false
    }
  }

  /// Another node has taken a job whose offer was to be withdrawn.
  package mutating func wasTaken(_ job: JobID) {
    if steps[job] != nil { steps[job] = .taken }
  }

  /// The jobs that are offered; of a node that takes jobs again, they are withdrawn.
  package var offers: [JobID] { steps.keys.filter { isOffered($0) }.sorted { $0.text < $1.text } }

  /// - Parameters:
  ///   - jobs: all that the node has.
  ///   - hasSuccessor: whether another node could take a job.
  package mutating func next(_ jobs: [RunningJob], hasSuccessor: Bool, at now: MonotonicInstant) -> [Action] {
    guard now >= deadline else { return [] }
    let known = Set(jobs.map(\.id))
    steps = steps.filter { known.contains($0.key) }
    return jobs.flatMap { next($0, hasSuccessor: hasSuccessor, now) }
  }

  private mutating func next(_ job: RunningJob, hasSuccessor: Bool, _ now: MonotonicInstant) -> [Action] {
    switch steps[job.id] {
    case nil:
      if job.isBeginning, hasSuccessor, now < deadline + limits.offerFor { return [] }
      guard job.isMovable, hasSuccessor else { return endIfEnding(job.id) }
      steps[job.id] = .offered(until: now + limits.offerFor)
      return [.offer(job.id)]
    case .offered(let until):
      guard now >= until else { return [] }
      steps[job.id] = .refused(until: now + limits.offerAgainAfter)
      // It is withdrawn before it is ended, so that no node begins what is about to end.
      return [.withdraw(job.id)] + endIfEnding(job.id)
    case .refused(let until):
      if isEnding { return endIfEnding(job.id) }
      if now >= until { steps[job.id] = nil }
      return []
    case .ended, .taken: return []
    }
  }

  private mutating func endIfEnding(_ job: JobID) -> [Action] {
    guard isEnding else { return [] }
    steps[job] = .ended
    return [.end(job)]
  }
}
