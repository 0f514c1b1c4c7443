public import NIOCore

/// One direction of a bad network, in time that a test moves: loses, delays, reorders and doubles datagrams by a seed.
///
/// The same seed and the same datagrams at the same times give the same fate to each.
public struct LossyLink: Sendable {
  /// What the line does. Probabilities are 0 to 1, for each datagram by itself.
  public struct Conditions: Sendable, Hashable {
    /// The probability of random loss.
    public var loss: Double = 0
    /// Loss in bursts, besides the random one.
    public var bursts: Bursts?
    /// The way's time.
    public var delay: Duration = .zero
    /// The most that is added to the delay at random; order is kept.
    public var jitter: Duration = .zero
    /// The probability that a datagram is held back, so that later ones overtake it.
    public var reordering: Double = 0
    /// How long such a datagram is held back at most.
    public var reorderingDelay: Duration = .milliseconds(20)
    /// The probability that a datagram comes twice.
    public var duplication: Double = 0
    /// Bits a second that the line carries; nil for any number.
    public var rate: Double?
    /// How long a datagram may queue before the line; what would wait longer is lost.
    public var queue: Duration = .milliseconds(200)

    public init(
      loss: Double = 0, bursts: Bursts? = nil, delay: Duration = .zero, jitter: Duration = .zero,
      reordering: Double = 0, duplication: Double = 0, rate: Double? = nil
    ) {
      self.loss = loss
      self.bursts = bursts
      self.delay = delay
      self.jitter = jitter
      self.reordering = reordering
      self.duplication = duplication
      self.rate = rate
    }
  }

  /// The model of Gilbert and Elliott with a path that is either good or loses everything.
  public struct Bursts: Sendable, Hashable {
    /// The probability, at each datagram, of the good line's becoming bad.
    public var toBad: Double
    /// The probability, at each datagram, of the bad network's becoming good.
    public var toGood: Double

    /// - Parameters:
    ///   - share: the share of datagrams that are lost in the long run, below 1.
    ///   - meanLength: how many are lost in a row on average, at least 1.
    public init(share: Double, meanLength: Double) {
      toGood = 1 / max(1, meanLength)
      toBad = share / (1 - share) * toGood
    }
  }

  /// What has happened so far.
  public struct Counts: Sendable, Hashable {
    public var sent = 0
    public var lost = 0
    public var heldBack = 0
    public var doubled = 0

    public init() {}

    /// What happened on two lines together.
    public static func + (one: Counts, other: Counts) -> Counts {
      var sum = one
      sum.sent += other.sent
      sum.lost += other.lost
      sum.heldBack += other.heldBack
      sum.doubled += other.doubled
      return sum
    }
  }

  private struct QueuedDatagram: Sendable {
    var arrival: ContinuousClock.Instant
    var datagram: ByteBuffer
  }

  /// May be changed at any time; what is on its way stays on its way.
  public var conditions: Conditions
  public private(set) var counts = Counts()
  private var generator: SeededGenerator
  private var isBad = false
  /// In order of arrival.
  private var queuedDatagrams: [QueuedDatagram] = []
  private var lastArrival: ContinuousClock.Instant?
  private var lineIsFree: ContinuousClock.Instant?

  public init(_ conditions: Conditions = .init(), seed: UInt64) {
    self.conditions = conditions
    generator = SeededGenerator(seed: seed)
  }

  /// When the next datagram arrives; nil when none is on its way.
  public var deadline: ContinuousClock.Instant? { queuedDatagrams.first?.arrival }

  public mutating func send(_ datagram: ByteBuffer, now: ContinuousClock.Instant) {
    counts.sent += 1
    guard !isLost(), let departure = departure(of: datagram, now: now) else {
      counts.lost += 1
      return
    }
    deliver(datagram, departure: departure)
    if happens(conditions.duplication) {
      counts.doubled += 1
      deliver(datagram, departure: departure)
    }
  }

  /// Takes the next datagram that has arrived by `now`.
  public mutating func receive(now: ContinuousClock.Instant) -> ByteBuffer? {
    guard let first = queuedDatagrams.first, first.arrival <= now else { return nil }
    return queuedDatagrams.removeFirst().datagram
  }

  private mutating func isLost() -> Bool {
    if let bursts = conditions.bursts {
      if happens(isBad ? bursts.toGood : bursts.toBad) { isBad.toggle() }
    } else {
      isBad = false
    }
    return happens(conditions.loss) || isBad
  }

  /// When the datagram has gone through the line's bottleneck; nil when its queue is full.
  private mutating func departure(of datagram: ByteBuffer, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard let rate = conditions.rate else { return now }
    let start = max(now, lineIsFree ?? now)
    if start - now > conditions.queue { return nil }
    let end = start + .nanoseconds(Int64(Double(datagram.readableBytes) * 8 / rate * 1e9))
    lineIsFree = end
    return end
  }

  private mutating func deliver(_ datagram: ByteBuffer, departure: ContinuousClock.Instant) {
    var arrival = departure + conditions.delay + random(conditions.jitter)
    if happens(conditions.reordering) {
      counts.heldBack += 1
      arrival += random(conditions.reorderingDelay)
    } else {
      arrival = max(arrival, lastArrival ?? arrival)
      lastArrival = arrival
    }
    var position = queuedDatagrams.endIndex
    while position > 0, queuedDatagrams[position - 1].arrival > arrival { position -= 1 }
    queuedDatagrams.insert(QueuedDatagram(arrival: arrival, datagram: datagram), at: position)
  }

  private mutating func happens(_ probability: Double) -> Bool {
    // Drawn even when it cannot happen, so that one setting does not change the fates that another decides.
    Double.random(in: 0..<1, using: &generator) < probability
  }

  private mutating func random(_ span: Duration) -> Duration {
    span * Double.random(in: 0..<1, using: &generator)
  }
}
