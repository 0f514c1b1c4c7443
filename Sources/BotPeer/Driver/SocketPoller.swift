internal import Glibc
internal import Media
internal import NIOCore
internal import NIOPosix

/// Polls the sockets of all drivers on one event loop, and runs the drivers when datagrams arrive or a deadline is due.
///
/// A wakeup costs more than a packet. So while datagrams arrive, one poll every few milliseconds serves all drivers:
/// datagrams in between wait in the kernel, which records their arrival times. When nothing has arrived for some time,
/// polling stops, and a thread waits for data.
///
/// ```
///               20 empty polls
///      polling ─────────────────────────► idle
///         ▲                                  │
///         └─────────── a datagram ───────────┘
/// ```
final class SocketPoller {
  /// The time between two polls: how long a datagram or a deadline that is not urgent may wait. It is longer if all
  /// drivers are patient.
  static let interval: Duration = .milliseconds(5)
  /// The shortest time between two polls, if there are few drivers and one has urgent work.
  static let minimumInterval: Duration = .milliseconds(1)
  /// The limit of "few": with more drivers urgent work is due in every millisecond, and waits for the next poll like
  /// everything else. Such work is paced packets, which then leave in bursts of 5 ms as in libwebrtc.
  private static let fewDrivers = 4
  /// The number of consecutive empty polls before polling stops.
  private static let emptyPollLimit = 20

  private let loop: any EventLoop
  private var drivers: [PeerDriver] = []
  /// The sockets of all drivers, and the owner of each.
  private var sockets: [pollfd] = []
  private var owners: [PeerDriver] = []
  private let idleWaiter: IdleWaiter?
  private var idleWaiterIsWaiting = false
  /// The number of consecutive empty polls.
  private var emptyPolls = emptyPollLimit
  private var isPolling = false
  /// The start of the current measuring interval, and the time that polls took in it.
  private var measuring: (since: MonotonicInstant, processorTime: Duration, busy: Duration)?
  private var next: (task: Scheduled<Void>, time: MonotonicInstant)?

  // MARK: One poller for each event loop

  private struct Reference {
    weak var poller: SocketPoller?
  }

  /// The poller of each event loop's thread, for as long as it is referenced.
  private static let present = ThreadSpecificVariable<NIOLoopBoundBox<Reference>>()

  /// Returns the poller of an event loop, which must be the current one.
  static func of(_ loop: any EventLoop) -> SocketPoller {
    if let known = present.currentValue?.value.poller { return known }
    let reference = NIOLoopBoundBox(Reference(), eventLoop: loop)
    let poller = SocketPoller(loop) { loop.execute { reference.value.poller?.idleWaiterFound() } }
    reference.value.poller = poller
    present.currentValue = reference
    return poller
  }

  private init(_ loop: any EventLoop, found: @escaping @Sendable () -> Void) {
    self.loop = loop
    idleWaiter = IdleWaiter(found: found)
  }

  deinit {
    idleWaiter?.stop()
  }

  /// Adds a driver and its sockets until it leaves.
  func join(_ driver: PeerDriver, descriptors: some Sequence<Int32>) {
    drivers.append(driver)
    for descriptor in descriptors {
      sockets.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
      owners.append(driver)
    }
    socketsChanged()
  }

  /// Removes a driver. Its sockets may be closed afterwards.
  func leave(_ driver: PeerDriver) {
    drivers.removeAll { $0 === driver }
    for position in sockets.indices.reversed() where owners[position] === driver {
      sockets.remove(at: position)
      owners.remove(at: position)
    }
    socketsChanged()
  }

  /// Adds a socket of a driver that has joined.
  func add(_ descriptor: Int32, of driver: PeerDriver) {
    sockets.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    owners.append(driver)
    socketsChanged()
  }

  /// Removes a socket, which may be closed afterwards.
  func remove(_ descriptor: Int32) {
    guard let position = sockets.firstIndex(where: { $0.fd == descriptor }) else { return }
    sockets.remove(at: position)
    owners.remove(at: position)
    socketsChanged()
  }

  private func socketsChanged() {
    idleWaiterIsWaiting = false
    idleWaiter?.wait(for: [])
    scheduleNextPoll(now: .now)
  }

  // MARK: Polling

  /// Schedules the next poll after a driver has done work, because its deadline may have changed.
  func changed(_ driver: PeerDriver, now: MonotonicInstant) {
    guard !isPolling, isIdle || driver.isUrgent, let deadline = driver.deadline else { return }
    schedulePoll(at: max(deadline, now + presentInterval), now: now)
  }

  /// The shortest time until the next poll.
  private var presentInterval: Duration {
    if drivers.count <= Self.fewDrivers || drivers.contains(where: \.isConnecting) { return Self.minimumInterval }
    return Self.interval
  }

  private var isIdle: Bool { emptyPolls >= Self.emptyPollLimit && idleWaiter != nil }

  private func idleWaiterFound() {
    idleWaiterIsWaiting = false
    if isIdle { pollOnce() }
  }

  private func pollOnce() {
    next?.task.cancel()
    next = nil
    isPolling = true
    let begin = MonotonicInstant.now
    let hasNewData = poll(&sockets, nfds_t(sockets.count), 0) > 0
    emptyPolls = hasNewData ? 0 : min(emptyPolls + 1, Self.emptyPollLimit)
    var hasMore = false
    // A driver may add and remove sockets while it reads one.
    let readable = hasNewData ? sockets.indices.filter { sockets[$0].revents != 0 } : []
    for (owner, descriptor) in readable.map({ (owners[$0], sockets[$0].fd) }) where owner.receive(at: descriptor) {
      hasMore = true
    }
    let now = MonotonicInstant.now
    for driver in drivers where driver.hasNewData || driver.isDue(now: now) { driver.carryOutAll(now: now) }
    isPolling = false
    measure(from: begin)
    scheduleNextPoll(now: now, hasMore: hasMore)
  }

  /// Reports to the drivers how busy the thread is, while datagrams arrive.
  private func measure(from begin: MonotonicInstant) {
    let end = MonotonicInstant.now
    var measured = measuring ?? (since: begin, processorTime: Self.processorTime, busy: .zero)
    measured.busy += end - begin
    measuring = measured
    let elapsed = end - measured.since
    guard elapsed >= OverloadController.interval else { return }
    measuring = nil
    // The thread may be busy with other work than polling, and it may wait for a CPU while it polls.
    let busy = max(measured.busy, Self.processorTime - measured.processorTime)
    for driver in drivers { driver.threadWasBusy(busy / elapsed, now: end) }
  }

  /// The CPU time of the thread.
  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Schedules the next poll.
  private func scheduleNextPoll(now: MonotonicInstant, hasMore: Bool = false) {
    guard !drivers.isEmpty else {
      next?.task.cancel()
      next = nil
      return
    }
    // Other work of the loop runs in between.
    if hasMore { return schedulePoll(at: now, now: now) }
    if isIdle, !idleWaiterIsWaiting {
      idleWaiterIsWaiting = true
      idleWaiter?.wait(for: sockets.map(\.fd))
    }
    var time = isIdle ? nil : now + (drivers.lazy.map(\.pollInterval).min() ?? Self.interval)
    for driver in drivers where isIdle || driver.isUrgent {
      if let deadline = driver.deadline { time = time.map { min($0, deadline) } ?? deadline }
    }
    if let time { schedulePoll(at: max(time, now + presentInterval), now: now) }
  }

  /// Schedules a poll, unless an earlier one is scheduled.
  private func schedulePoll(at time: MonotonicInstant, now: MonotonicInstant) {
    if let next, next.time <= time { return }
    next?.task.cancel()
    let task = loop.assumeIsolated().scheduleTask(in: TimeAmount(max(.zero, time - now))) { [weak self] in
      self?.pollOnce()
      return
    }
    next = (task, time)
  }
}
