internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Tells the drivers on one event loop when datagrams have come for them and when something of theirs is due.
///
/// To wake up costs more than a packet does. So while datagrams come, one look every few milliseconds serves all drivers: what
/// comes in between waits in the kernel, which notes when it came. When nothing has come for some time nobody looks, and a thread
/// waits until the kernel has something.
///
/// ```
///               20 looks found nothing
///      looking ─────────────────────────► resting
///         ▲                                  │
///         └─────────── a datagram ───────────┘
/// ```
final class SocketPoller {
  /// The time between two looks: what a datagram, or what is due and not urgent, may wait. Longer if all drivers are patient.
  static let interval: Duration = .milliseconds(5)
  /// The least time between two looks where one of few drivers has something urgent.
  static let shortestInterval: Duration = .milliseconds(1)
  /// How many are few: with more of them something urgent is due in every millisecond, and waits for the next look as all else
  /// does. What is due then is to be paced, and leaves in bursts of 5 ms as libwebrtc's does.
  private static let fewDrivers = 4
  /// Looks that find nothing before there is rest.
  private static let patience = 20

  private let loop: any EventLoop
  private var drivers: [PeerDriver] = []
  /// The sockets of all drivers, and whose each is.
  private var sockets: [pollfd] = []
  private var owners: [PeerDriver] = []
  private let idleWaiter: IdleWaiter?
  private var idleWaiterIsWaiting = false
  /// Looks in a row that found nothing.
  private var emptyLooks = patience
  private var isInLook = false
  /// When the present interval of measuring began, and how long looks took in it.
  private var measuring: (since: ContinuousClock.Instant, processorTime: Duration, busy: Duration)?
  private var next: (look: Scheduled<Void>, time: ContinuousClock.Instant)?

  // MARK: Whose it is

  private struct Reference {
    weak var poller: SocketPoller?
  }

  /// The lookout of each event loop's thread, for as long as somebody has it.
  private static let present = ThreadSpecificVariable<NIOLoopBoundBox<Reference>>()

  /// The lookout of an event loop, which must be the current one.
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
    idleWaiter?.dismiss()
  }

  /// From now on the driver is told, until it leaves.
  func join(_ driver: PeerDriver, descriptors: some Sequence<Int32>) {
    drivers.append(driver)
    for descriptor in descriptors {
      sockets.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
      owners.append(driver)
    }
    socketsChanged()
  }

  /// The driver's sockets may be closed after this.
  func leave(_ driver: PeerDriver) {
    drivers.removeAll { $0 === driver }
    for position in sockets.indices.reversed() where owners[position] === driver {
      sockets.remove(at: position)
      owners.remove(at: position)
    }
    socketsChanged()
  }

  private func socketsChanged() {
    idleWaiterIsWaiting = false
    idleWaiter?.wait(for: [])
    plan(now: .now)
  }

  // MARK: Looking

  /// Takes note that a driver has done something, so that something else may be due next.
  func changed(_ driver: PeerDriver, now: ContinuousClock.Instant) {
    guard !isInLook, isResting || driver.isUrgent, let deadline = driver.deadline else { return }
    look(at: max(deadline, now + leastInterval), now: now)
  }

  /// The least time until the next look.
  private var leastInterval: Duration {
    if drivers.count <= Self.fewDrivers || drivers.contains(where: \.isConnecting) { return Self.shortestInterval }
    return Self.interval
  }

  private var isResting: Bool { emptyLooks >= Self.patience && idleWaiter != nil }

  private func idleWaiterFound() {
    idleWaiterIsWaiting = false
    if isResting { look() }
  }

  private func look() {
    next?.look.cancel()
    next = nil
    isInLook = true
    let begin = ContinuousClock.now
    let isNews = poll(&sockets, nfds_t(sockets.count), 0) > 0
    emptyLooks = isNews ? 0 : min(emptyLooks + 1, Self.patience)
    var isMore = false
    for position in sockets.indices where isNews && sockets[position].revents != 0 {
      if owners[position].receive(at: sockets[position].fd) { isMore = true }
    }
    let now = ContinuousClock.now
    for driver in drivers where driver.hasNews || driver.isDue(now: now) { driver.carryOutAll(now: now) }
    isInLook = false
    measure(from: begin)
    plan(now: now, isMore: isMore)
  }

  /// Tells the drivers how busy the thread is, as long as something comes.
  private func measure(from begin: ContinuousClock.Instant) {
    let end = ContinuousClock.now
    var measured = measuring ?? (since: begin, processorTime: Self.processorTime, busy: .zero)
    measured.busy += end - begin
    measuring = measured
    let elapsed = end - measured.since
    guard elapsed >= OverloadController.interval else { return }
    measuring = nil
    // The thread may be busy with other things than looking; and it may wait for a processor while it looks.
    let busy = max(measured.busy, Self.processorTime - measured.processorTime)
    for driver in drivers { driver.threadWasBusy(busy / elapsed, now: end) }
  }

  /// How long the thread has run.
  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Decides when to look next.
  private func plan(now: ContinuousClock.Instant, isMore: Bool = false) {
    guard !drivers.isEmpty else {
      next?.look.cancel()
      next = nil
      return
    }
    // Other work of the loop has its turn in between.
    if isMore { return look(at: now, now: now) }
    if isResting, !idleWaiterIsWaiting {
      idleWaiterIsWaiting = true
      idleWaiter?.wait(for: sockets.map(\.fd))
    }
    var time = isResting ? nil : now + (drivers.lazy.map(\.patience).min() ?? Self.interval)
    for driver in drivers where isResting || driver.isUrgent {
      if let deadline = driver.deadline { time = time.map { min($0, deadline) } ?? deadline }
    }
    if let time { look(at: max(time, now + leastInterval), now: now) }
  }

  /// Looks at a point in time, unless it does so sooner.
  private func look(at time: ContinuousClock.Instant, now: ContinuousClock.Instant) {
    if let next, next.time <= time { return }
    next?.look.cancel()
    let look = loop.assumeIsolated().scheduleTask(in: TimeAmount(max(.zero, time - now))) { [weak self] in
      self?.look()
      return
    }
    next = (look, time)
  }
}
