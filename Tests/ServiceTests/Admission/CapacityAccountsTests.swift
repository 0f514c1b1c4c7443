import Media
import Service
import TestSupport
import Testing

@Suite("the capacity of the machine")
struct CapacityAccountsTests {
  private typealias Accounts = CapacityAccounts<Int>
  private let start = MonotonicInstant(sinceOrigin: .seconds(1_000))

  private func accounts(processors: Int64 = 1_600, memory: Int64 = 1 << 30, ports: Int64? = nil) -> Accounts {
    Accounts(
      limits: Accounts.Limits(processors: processors, memory: memory, udpPorts: ports, minimumFreeDisk: 10))
  }

  /// Lets a job run for a time with these costs.
  private func run(
    _ accounts: inout Accounts, _ job: Int, seconds: Range<Int>, processors: Int64, memory: Int64, users: Int
  ) {
    for second in seconds {
      accounts.measure(
        JobMeter.Sample(
          processorTime: Int64(second) * processors, privateMemory: memory, bytesWritten: Int64(second) * 1_000,
          users: users),
        of: job, at: start + .seconds(second))
    }
  }

  private func shortage(_ accounts: inout Accounts) -> CapacityShortage? {
    do throws(CapacityShortage) {
      accounts.release(try accounts.reserve())
      return nil
    } catch {
      return error
    }
  }

  @Test("jobs that start hold a reservation each, and the machine is never promised twice")
  func reservations() throws {
    var accounts = accounts()
    let needed = accounts.nextJob
    var count: Int64 = 0
    while let number = try? accounts.reserve() {
      accounts.begin(Int(number), reservation: number)
      count += 1
    }
    #expect(count == min(1_600 / needed.processors, (1 << 30) / needed.memory))
    let short = try #require(shortage(&accounts))
    guard case .resource(let resource, let amount, let free) = short.cause else {
      Issue.record("\(short)")
      return
    }
    #expect(resource == .processors)
    #expect(amount == needed.processors)
    #expect(free < needed.processors)
    accounts.end(1)
    #expect(shortage(&accounts) == nil)
  }

  @Test("a reservation that is given back makes room")
  func release() throws {
    var accounts = accounts(processors: accounts().nextJob.processors)
    let number = try accounts.reserve()
    #expect(shortage(&accounts) != nil)
    accounts.release(number)
    #expect(shortage(&accounts) == nil)
  }

  @Test("the reservation counts until the job has had users for a minute; then what it uses counts")
  func measured() throws {
    var accounts = accounts()
    accounts.begin(1, reservation: try accounts.reserve())
    let reserved = try #require(accounts.demand(of: 1))
    run(&accounts, 1, seconds: 0..<59, processors: 10, memory: 5 << 20, users: 0)
    #expect(accounts.demand(of: 1)?.processors == reserved.processors)
    run(&accounts, 1, seconds: 59..<110, processors: 10, memory: 5 << 20, users: 2)
    #expect(accounts.demand(of: 1)?.processors == reserved.processors)
    run(&accounts, 1, seconds: 110..<130, processors: 10, memory: 5 << 20, users: 2)
    #expect(accounts.demand(of: 1)?.processors == 10)
    #expect(accounts.demand(of: 1)?.memory == 5 << 20)
  }

  @Test("the highest of the last minute counts, and is forgotten after that")
  func highest() {
    var accounts = accounts()
    accounts.begin(1, reservation: nil)
    run(&accounts, 1, seconds: 0..<70, processors: 100, memory: 5 << 20, users: 1)
    for second in 70..<100 {
      accounts.measure(
        JobMeter.Sample(
          processorTime: 7_000 + Int64(second - 70) * 900, privateMemory: 50 << 20, bytesWritten: 80_000, users: 1),
        of: 1, at: start + .seconds(second))
    }
    #expect((850...900).contains(accounts.demand(of: 1)?.processors ?? 0))
    for second in 100..<190 {
      accounts.measure(
        JobMeter.Sample(
          processorTime: 33_100 + Int64(second - 100) * 50, privateMemory: 5 << 20, bytesWritten: 80_000, users: 1),
        of: 1, at: start + .seconds(second))
    }
    #expect((40...60).contains(accounts.demand(of: 1)?.processors ?? 0))
    #expect(accounts.demand(of: 1)?.memory == 5 << 20)
  }

  @Test("the next job is expected to need what four users cost lately")
  func userCost() {
    var accounts = accounts()
    accounts.begin(1, reservation: nil)
    run(&accounts, 1, seconds: 0..<130, processors: 505, memory: (8 << 20) + (50 << 20), users: 5)
    let next = accounts.nextJob
    #expect(next.processors == 405)
    #expect(next.memory == (8 << 20) + 4 * (10 << 20))
  }

  @Test("a running job that needs more than there is keeps running, and only new ones are refused")
  func overcommitted() {
    var accounts = accounts()
    accounts.begin(1, reservation: nil)
    run(&accounts, 1, seconds: 0..<130, processors: 1_900, memory: 5 << 20, users: 5)
    #expect(accounts.report.figures[.processors] == CapacityFigure(used: 1_900, limit: 1_600))
    #expect(shortage(&accounts)?.description.contains("0.00 are free") == true)
  }

  @Test("each resource is named when it is short")
  func resources() {
    var memory = accounts(memory: 8 << 20)
    #expect(shortage(&memory)?.description.contains("memory") == true)
    var ports = accounts(ports: 1)
    ports.begin(1, reservation: nil)
    #expect(shortage(&ports)?.cause == .resource(.udpPorts, needed: 1, free: 0))
    var disk = accounts()
    disk.freeDisk = 9
    #expect(shortage(&disk)?.cause == .resource(.disk, needed: 10, free: 9))
    disk.freeDisk = 10
    #expect(shortage(&disk) == nil)
  }

  @Test("figures of a process that make no sense overflow nothing")
  func hostile() {
    var accounts = accounts()
    var generator = SeededGenerator(seed: 3)
    for job in 0..<3 { accounts.begin(job, reservation: nil) }
    for second in 0..<500 {
      let values = (0..<4).map { _ in
        [0, 1, .max, Int64.random(in: 0...(.max), using: &generator)].randomElement(using: &generator) ?? 0
      }
      accounts.measure(
        JobMeter.Sample(
          processorTime: values[0], privateMemory: values[1], bytesWritten: values[2],
          users: Int(clamping: values[3])),
        of: second % 3, at: start + .seconds(second * 6))
      _ = accounts.report
      _ = accounts.nextJob
    }
    #expect(accounts.report.figures.count == 2)
  }
}
