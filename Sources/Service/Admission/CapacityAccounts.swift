package import Media

/// Who uses how much of the machine, and whether another job has room. Pure.
///
/// A job that starts holds a reservation until it has had users for a minute; then what it uses counts. Nothing that runs is ever
/// ended to make room: a job that needs more than was reserved gets it.
package struct CapacityAccounts<Job: Hashable & Sendable>: Sendable {
  /// What all jobs together may use.
  package struct Limits: Sendable, Hashable {
    /// Thousandths of a processor.
    package var processors: Int64
    package var memory: Int64
    /// Nil if any port may be used.
    package var udpPorts: Int64?
    package var minimumFreeDisk: Int64

    package init(processors: Int64, memory: Int64, udpPorts: Int64?, minimumFreeDisk: Int64) {
      self.processors = processors
      self.memory = memory
      self.udpPorts = udpPorts
      self.minimumFreeDisk = minimumFreeDisk
    }
  }

  private struct Account: Sendable {
    var reserved: JobDemand
    var meter = JobMeter()
    var isReserved = true

    func demand() -> JobDemand {
      let measured = meter.highest ?? JobDemand()
      return isReserved ? measured.highest(reserved) : measured
    }
  }

  package var limits: Limits
  /// The free space of the disk that holds the data; nil if it is unknown, which refuses nothing.
  package var freeDisk: Int64?
  private var accounts: [Job: Account] = [:]
  private var reservations: [UInt64: JobDemand] = [:]
  private var lastNumber: UInt64 = 0
  /// What a user cost lately.
  private var userCost: JobDemand

  /// What a process without users needs, and what a user costs before one was measured.
  package static var processCost: JobDemand { JobDemand(processors: 5, memory: 8 << 20) }
  package static var expectedUserCost: JobDemand {
    JobDemand(processors: 20, memory: 6 << 20, bytesPerSecond: 250_000)
  }
  /// The number of users that is reserved for.
  private static var reservedUsers: Double { 4 }

  package init(limits: Limits) {
    self.limits = limits
    userCost = Self.expectedUserCost
  }

  /// What the next job is expected to need.
  package var nextJob: JobDemand { Self.processCost + userCost.scaled(by: Self.reservedUsers) }

  // MARK: Room for a job

  /// Reserves room for another job.
  package mutating func reserve() throws(CapacityShortage) -> UInt64 {
    let needed = nextJob
    let figures = report.figures
    let needs: [(CapacityResource, Int64)] = [
      (.udpPorts, 1), (.memory, needed.memory), (.processors, needed.processors),
    ]
    if let free = freeDisk, free < limits.minimumFreeDisk {
      throw CapacityShortage(.resource(.disk, needed: limits.minimumFreeDisk, free: free))
    }
    for (resource, amount) in needs {
      guard let figure = figures[resource], figure.free < amount else { continue }
      throw CapacityShortage(.resource(resource, needed: amount, free: figure.free))
    }
    lastNumber &+= 1
    reservations[lastNumber] = needed
    return lastNumber
  }

  /// Whether there are reservations that may still be given back.
  package var hasOpenReservations: Bool { !reservations.isEmpty }

  package mutating func release(_ reservation: UInt64) { reservations[reservation] = nil }

  /// A job begins with its reservation, or without one: a job of an earlier service.
  package mutating func begin(_ job: Job, reservation: UInt64?) {
    let reserved = reservation.flatMap { reservations.removeValue(forKey: $0) } ?? nextJob
    guard accounts[job] == nil else { return }
    accounts[job] = Account(reserved: reserved)
  }

  /// The next attempt of a job: it needs what it needed before, at least.
  package mutating func restart(_ job: Job) {
    guard var account = accounts[job] else { return begin(job, reservation: nil) }
    account = Account(reserved: account.demand().highest(nextJob))
    accounts[job] = account
  }

  package mutating func end(_ job: Job) { accounts[job] = nil }

  // MARK: Measuring

  package mutating func measure(_ sample: JobMeter.Sample, of job: Job, at now: MonotonicInstant) {
    guard var account = accounts[job] else { return }
    account.meter.add(sample, at: now)
    if account.isReserved, account.meter.isSettled(at: now) { account.isReserved = false }
    accounts[job] = account
    guard account.meter.isSettled(at: now) else { return }
    updateUserCost(now)
  }

  /// The mean of all users of jobs that have had users for a minute.
  private mutating func updateUserCost(_ now: MonotonicInstant) {
    var (sum, users) = (JobDemand(), 0)
    for account in accounts.values where account.meter.isSettled(at: now) {
      guard let measured = account.meter.highest else { continue }
      sum =
        sum
        + JobDemand(
          processors: max(measured.processors - Self.processCost.processors, 0),
          memory: max(measured.memory - Self.processCost.memory, 0), bytesPerSecond: measured.bytesPerSecond)
      users += account.meter.users
    }
    guard users > 0 else { return }
    let mean = sum.scaled(by: 1 / Double(users))
    userCost = JobDemand(
      processors: max(mean.processors, 1), memory: max(mean.memory, 1 << 16), bytesPerSecond: mean.bytesPerSecond)
  }

  // MARK: Figures

  /// What is used and what may be used.
  package var report: CapacityReport {
    let demand =
      accounts.values.reduce(JobDemand()) { $0 + $1.demand() } + reservations.values.reduce(JobDemand(), +)
    var figures: [CapacityResource: CapacityFigure] = [
      .processors: CapacityFigure(used: demand.processors, limit: limits.processors),
      .memory: CapacityFigure(used: demand.memory, limit: limits.memory),
    ]
    if let ports = limits.udpPorts {
      figures[.udpPorts] = CapacityFigure(used: Int64(accounts.count + reservations.count), limit: ports)
    }
    // Of a disk, what must remain free counts as used.
    if let freeDisk { figures[.disk] = CapacityFigure(used: limits.minimumFreeDisk, limit: freeDisk) }
    let next = nextJob
    var needs: [CapacityResource: Int64] = [.processors: next.processors, .memory: next.memory]
    if limits.udpPorts != nil { needs[.udpPorts] = 1 }
    return CapacityReport(figures: figures, nextJob: needs)
  }

  /// What a job uses, as it is counted.
  package func demand(of job: Job) -> JobDemand? { accounts[job]?.demand() }
}
