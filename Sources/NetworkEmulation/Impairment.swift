/// An emulated bad network between our engine and our socket, for the datagrams of each participant: media, ICE and DTLS
/// alike.
///
/// ```swift
/// let impairment = try Impairment(parsing: "0s: send: loss=5%,burst=3; 10s: rate=150kbit; 20s: none", seed: 7)
/// configuration.network = .emulating(impairment)
/// ```
///
/// A datagram is lost or not, then waits in the bottleneck's queue, then for the delay of the path:
///
/// ```
/// loss, burst ──► queue, rate ──► delay, jitter ──► reorder
/// ```
///
/// The same seed and the same datagrams at the same times lead to the same fate of each. Loss, jitter and reordering of a
/// datagram depend only on its index, counted separately for media and for ICE and DTLS. Each participant, in the order in
/// which they joined, and each direction has random numbers of its own.
///
/// The clock of each participant's script starts with the first RTP packet in either direction. Until then the first step
/// holds if it begins at 0 s.
public struct Impairment: Sendable, Hashable {
  /// The direction of a datagram, as we see it.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    case send
    case receive
  }

  /// Conditions that hold from a given time on.
  public struct Step: Sendable, Hashable {
    /// The time since the clock's start.
    public internal(set) var time: Duration
    public internal(set) var conditions: Conditions

    init(at time: Duration, _ conditions: Conditions) {
      self.time = time
      self.conditions = conditions
    }
  }

  public var seed: UInt64
  /// The steps for datagrams that we send, in order of time; before the first step nothing is impaired.
  public internal(set) var send: [Step]
  /// The steps for datagrams that we receive.
  public internal(set) var receive: [Step]

  init(send: [Step] = [], receive: [Step] = [], seed: UInt64) {
    self.send = send
    self.receive = receive
    self.seed = seed
  }

  func steps(_ direction: Direction) -> [Step] {
    switch direction {
    case .send: send
    case .receive: receive
    }
  }
}

extension Impairment {
  /// An interval of the script in which one direction's conditions do not change.
  public struct Period: Sendable, Hashable {
    public var direction: Direction
    /// The time since the clock's start.
    public var start: Duration
    /// Nil if the period does not end.
    public var end: Duration?
    public var conditions: Conditions
  }

  /// The script as periods, those of sending first, each direction in order of time; without periods in which nothing is
  /// impaired.
  public var periods: [Period] {
    var periods: [Period] = []
    for direction in Direction.allCases {
      let steps = steps(direction)
      for (position, step) in steps.enumerated() where step.conditions != Conditions() {
        let end = steps.dropFirst(position + 1).first?.time
        periods.append(Period(direction: direction, start: step.time, end: end, conditions: step.conditions))
      }
    }
    return periods
  }
}

extension Impairment {
  /// What a network path does to the datagrams of one direction. Shares are 0 to 1.
  public struct Conditions: Sendable, Hashable {
    /// The share of datagrams that are lost.
    public package(set) var loss: Double = 0
    /// How many datagrams are lost in a row on average, at least 1 (a Gilbert model: the path is good, or loses
    /// everything); nil when each datagram is lost independently.
    public package(set) var burst: Double?
    /// The one-way delay of the path. It preserves the order.
    public package(set) var delay: Duration = .zero
    /// The maximum that is added to the delay, uniformly at random for each datagram. It preserves the order, as the queues
    /// do that cause real jitter: a datagram that would overtake another waits for it.
    public package(set) var jitter: Duration = .zero
    /// The share of datagrams that are delayed by ``heldBack`` so that later ones overtake them.
    public package(set) var reorder: Double = 0
    /// How long such a datagram is delayed, uniformly at random; ``heldBack`` unless a simulation needs other delays. It has no
    /// text form.
    package var reorderDelay = Self.heldBack
    /// The share of datagrams that are delivered twice. It has no text form.
    package var duplicate: Double = 0
    /// The bottleneck's bitrate in bits a second of UDP payload; nil for unlimited. Datagrams beyond it wait in the queue.
    public package(set) var rate: Double?
    /// How long a datagram may wait in the queue, as in a router with a buffer of this length: one that would wait longer
    /// is dropped.
    public package(set) var queue: Duration = Self.defaultQueue

    /// 200 ms: a common buffer size of a home router's uplink.
    public static let defaultQueue: Duration = .milliseconds(200)
    /// How long a datagram is delayed so that others overtake it, uniformly at random.
    public static let heldBack: ClosedRange<Duration> = .milliseconds(5)...(.milliseconds(30))

    package init(
      loss: Double = 0, burst: Double? = nil, delay: Duration = .zero, jitter: Duration = .zero, reorder: Double = 0,
      reorderDelay: ClosedRange<Duration> = Self.heldBack, duplicate: Double = 0, rate: Double? = nil,
      queue: Duration = Self.defaultQueue
    ) {
      self.loss = loss
      self.burst = burst
      self.delay = delay
      self.jitter = jitter
      self.reorder = reorder
      self.reorderDelay = reorderDelay
      self.duplicate = duplicate
      self.rate = rate
      self.queue = queue
    }

    /// Returns the largest share that can be lost in bursts of a mean length: after each burst, at least one datagram is
    /// not lost.
    static func maximumLoss(burst: Double) -> Double { burst / (1 + burst) }
  }
}

extension Impairment: CustomStringConvertible {
  /// The text form; parsing it returns the same impairment.
  public var description: String {
    let times = Set((send + receive).map(\.time)).sorted()
    let parts = times.map { time in
      let (sent, received) = (conditions(of: send, at: time), conditions(of: receive, at: time))
      let text =
        if sent == received {
          sent ?? ""
        } else {
          [sent.map { "send: \($0)" }, received.map { "receive: \($0)" }].compactMap(\.self).joined(separator: ", ")
        }
      return times == [.zero] ? text : "\(ImpairmentFormat.text(time)): \(text)"
    }
    return parts.isEmpty ? "none" : parts.joined(separator: "; ")
  }

  private func conditions(of steps: [Step], at time: Duration) -> String? {
    steps.first { $0.time == time }?.conditions.description
  }
}

extension Impairment.Conditions: CustomStringConvertible {
  public var description: String {
    var settings: [String] = []
    if loss > 0 || burst != nil { settings.append("loss=\(ImpairmentFormat.percent(loss))") }
    if let burst { settings.append("burst=\(ImpairmentFormat.number(burst))") }
    if delay > .zero { settings.append("delay=\(ImpairmentFormat.text(delay))") }
    if jitter > .zero { settings.append("jitter=\(ImpairmentFormat.text(jitter))") }
    if let rate { settings.append("rate=\(ImpairmentFormat.bitrate(rate))") }
    if queue != Self.defaultQueue { settings.append("queue=\(ImpairmentFormat.text(queue))") }
    if reorder > 0 { settings.append("reorder=\(ImpairmentFormat.percent(reorder))") }
    return settings.isEmpty ? "none" : settings.joined(separator: ",")
  }
}
