internal import Media
internal import PeerEngine

/// One direction of an impaired network path: decides the fate of each datagram and counts it, but does not buffer
/// datagrams.
///
/// The same number of random numbers is drawn for each datagram, whatever the conditions are. So one setting does not change
/// the fates that another one decides, nor does the time at which a step of the script begins. Media (RTP and RTCP) has
/// random numbers of its own, because the number of datagrams of a handshake depends on the machine.
struct ImpairedDirection: Sendable {
  enum Fate: Sendable, Hashable {
    case passes
    case held(until: MonotonicInstant)
    case dropped(Reason)
  }

  enum Reason: Sendable, Hashable {
    case loss
    case queueIsFull
  }

  private(set) var counts = NetworkStatistics.Counts()
  /// They may be changed at any time; the fates of earlier datagrams stay.
  var conditions = Impairment.Conditions()
  /// Whether the last datagram is delivered twice.
  private(set) var duplicates = false
  private let steps: [Impairment.Step]
  private var stepsTaken = 0
  private(set) var clockStart: MonotonicInstant?
  private var media: PacketFateGenerator
  private var connecting: PacketFateGenerator
  /// When the bottleneck has transmitted everything that is queued before it.
  private var bottleneckIsFree: MonotonicInstant?
  /// When the last datagram arrives of those that keep their order.
  private var lastArrival: MonotonicInstant?
  /// The datagrams that were delayed for reordering and have not been overtaken.
  private var heldBack: [(arrival: MonotonicInstant, kind: NetworkStatistics.DatagramKind)] = []

  init(_ steps: [Impairment.Step], seed: UInt64) {
    self.steps = steps
    var seeds = SplitMix64(seed: seed)
    media = PacketFateGenerator(seed: seeds.next())
    connecting = PacketFateGenerator(seed: seeds.next())
    if let first = steps.first, first.time <= .zero { take(first) }
  }

  /// - Parameter number: the index of the network path among all, counted from 0.
  init(_ impairment: Impairment, _ direction: Impairment.Direction, number: UInt64) {
    let position = number &* 2 &+ (direction == .send ? 0 : 1)
    var seeds = SplitMix64(seed: impairment.seed &+ position &* 0xD134_2543_DE82_EF95)
    self.init(impairment.steps(direction), seed: seeds.next())
  }

  /// Starts the script's clock, unless it runs already.
  mutating func startClock(now: MonotonicInstant) {
    if clockStart == nil { clockStart = now }
  }

  /// Decides the fate of the next datagram.
  ///
  /// - Parameters:
  ///   - hasRoom: whether another datagram can be buffered.
  ///   - now: the current time, not before that of the previous datagram.
  mutating func fate(
    bytes: Int, kind: NetworkStatistics.DatagramKind, hasRoom: Bool = true, now: MonotonicInstant
  ) -> Fate {
    takeDueSteps(now: now)
    counts[kind].datagrams += 1
    let drawn = draw(kind)
    duplicates = false
    let jitter = conditions.jitter * drawn.jitter
    let isHeldBack = drawn.order < conditions.reorder
    let span = conditions.reorderDelay
    let extra = span.lowerBound + (span.upperBound - span.lowerBound) * drawn.hold
    if drawn.isLost {
      counts[kind].lost += 1
      return .dropped(.loss)
    }
    guard hasRoom, let departure = departure(bytes: bytes, now: now) else {
      counts[kind].droppedByQueue += 1
      return .dropped(.queueIsFull)
    }
    var arrival = departure + conditions.delay + jitter
    if isHeldBack {
      arrival += extra
      heldBack.append((arrival, kind))
    } else {
      arrival = max(arrival, lastArrival ?? arrival)
      lastArrival = arrival
    }
    overtake(arrival, now: now)
    counts[kind].passed += 1
    duplicates = drawn.copy < conditions.duplicate
    guard arrival > now else { return .passes }
    counts[kind].delayed += 1
    counts[kind].delay += arrival - now
    if departure > now { counts[kind].queued += 1 }
    return .held(until: arrival)
  }

  private mutating func draw(_ kind: NetworkStatistics.DatagramKind) -> PacketFateGenerator.Draw {
    switch kind {
    case .rtp, .rtcp: media.draw(conditions)
    case .stun, .dtls, .other: connecting.draw(conditions)
    }
  }

  /// Returns when the datagram leaves the bottleneck, or nil when its queue is full.
  private mutating func departure(bytes: Int, now: MonotonicInstant) -> MonotonicInstant? {
    guard let rate = conditions.rate else { return now }
    let start = max(now, bottleneckIsFree ?? now)
    if start - now > conditions.queue { return nil }
    let end = start + .nanoseconds(Int64(Double(bytes) * 8 / rate * 1e9))
    bottleneckIsFree = end
    return end
  }

  /// Counts the datagrams that are overtaken by one that arrives at a given time.
  private mutating func overtake(_ arrival: MonotonicInstant, now: MonotonicInstant) {
    if heldBack.isEmpty { return }
    heldBack.removeAll { held in
      if held.arrival > arrival { counts[held.kind].reordered += 1 }
      return held.arrival > arrival || held.arrival <= now
    }
  }

  private mutating func takeDueSteps(now: MonotonicInstant) {
    guard let clockStart else { return }
    while stepsTaken < steps.count, clockStart + steps[stepsTaken].time <= now { take(steps[stepsTaken]) }
  }

  private mutating func take(_ step: Impairment.Step) {
    conditions = step.conditions
    stepsTaken += 1
  }
}

/// The random numbers of one direction and one group of datagrams, with the state of the Gilbert model.
struct PacketFateGenerator: Sendable {
  /// The random values for one datagram; all but the first are uniform in 0..<1.
  struct Draw {
    var isLost: Bool
    var jitter: Double
    var order: Double
    var hold: Double
    var copy: Double
  }

  private var generator: SplitMix64
  private var copies: SplitMix64
  /// Whether the path loses everything at the moment.
  private var isBad = false

  init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
    copies = SplitMix64(seed: ~seed)
  }

  mutating func draw(_ conditions: Impairment.Conditions) -> Draw {
    Draw(
      isLost: loses(conditions), jitter: random(), order: random(), hold: random(),
      copy: Self.fraction(copies.next()))
  }

  private mutating func loses(_ conditions: Impairment.Conditions) -> Bool {
    let (change, single) = (random(), random())
    guard let burst = conditions.burst, conditions.loss > 0 else {
      isBad = false
      return single < conditions.loss
    }
    // These two probabilities result in bursts of this mean length and this share of bad states in the long run (Gilbert,
    // 1960).
    let toGood = 1 / burst
    let toBad = min(1, conditions.loss / (1 - conditions.loss) * toGood)
    if change < (isBad ? toGood : toBad) { isBad.toggle() }
    return isBad
  }

  private mutating func random() -> Double { Self.fraction(generator.next()) }

  private static func fraction(_ random: UInt64) -> Double { Double(random >> 11) * 0x1p-53 }
}
