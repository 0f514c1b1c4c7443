package import Media
package import NIOCore

/// One direction of a bad network in simulated time: loses, delays, reorders and duplicates datagrams with a seed.
///
/// The same seed and the same datagrams at the same times give each datagram the same fate.
public struct LossyLink: Sendable {
  /// The conditions of the link. Probabilities are 0 to 1, for each datagram independently.
  public struct Conditions: Sendable, Hashable {
    /// The probability of random loss.
    public var loss: Double = 0
    /// Loss in bursts, in addition to the random loss.
    public var bursts: Bursts?
    /// The one-way delay.
    public var delay: Duration = .zero
    /// The maximum random addition to the delay; it does not reorder.
    public var jitter: Duration = .zero
    /// The probability that a datagram is held back so that later ones overtake it.
    public var reordering: Double = 0
    /// The maximum time for which such a datagram is held back.
    public var reorderingDelay: Duration = .milliseconds(20)
    /// The probability that a datagram is duplicated.
    public var duplication: Double = 0
    /// The capacity of the link in bits per second; nil for no limit.
    public var rate: Double?
    /// The maximum time in the link's queue; datagrams that would wait longer are lost.
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

  /// The Gilbert-Elliott model with a link that is either good or loses everything.
  public struct Bursts: Sendable, Hashable {
    /// The probability, at each datagram, that the good link becomes bad.
    public var toBad: Double
    /// The probability, at each datagram, that the bad link becomes good.
    public var toGood: Double

    /// - Parameters:
    ///   - share: The long-term share of lost datagrams, below 1.
    ///   - meanLength: The mean number of datagrams lost in a row, at least 1.
    public init(share: Double, meanLength: Double) {
      toGood = 1 / max(1, meanLength)
      toBad = share / (1 - share) * toGood
    }
  }

  /// The counts so far.
  public struct Counts: Sendable, Hashable {
    public var sent = 0
    public var lost = 0
    public var heldBack = 0
    public var doubled = 0

    public init() {}

    /// Adds the counts of two links.
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
    var arrival: MonotonicInstant
    var datagram: ByteBuffer
  }

  /// May be changed at any time; datagrams in flight are not affected.
  public var conditions: Conditions
  public private(set) var counts = Counts()
  private var generator: SeededGenerator
  private var isBad = false
  /// Sorted by arrival.
  private var queuedDatagrams: [QueuedDatagram] = []
  private var lastArrival: MonotonicInstant?
  private var lineIsFree: MonotonicInstant?

  public init(_ conditions: Conditions = .init(), seed: UInt64) {
    self.conditions = conditions
    generator = SeededGenerator(seed: seed)
  }

  /// The arrival of the next datagram, or nil if none is in flight.
  package var deadline: MonotonicInstant? { queuedDatagrams.first?.arrival }

  package mutating func send(_ datagram: ByteBuffer, now: MonotonicInstant) {
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

  /// Removes and returns the next datagram that has arrived by `now`.
  package mutating func receive(now: MonotonicInstant) -> ByteBuffer? {
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

  /// When the datagram leaves the link's bottleneck, or nil if its queue is full.
  private mutating func departure(of datagram: ByteBuffer, now: MonotonicInstant) -> MonotonicInstant? {
    guard let rate = conditions.rate else { return now }
    let start = max(now, lineIsFree ?? now)
    if start - now > conditions.queue { return nil }
    let end = start + .nanoseconds(Int64(Double(datagram.readableBytes) * 8 / rate * 1e9))
    lineIsFree = end
    return end
  }

  private mutating func deliver(_ datagram: ByteBuffer, departure: MonotonicInstant) {
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
    // Always drawn, so that one setting does not change the random numbers of another.
    Double.random(in: 0..<1, using: &generator) < probability
  }

  private mutating func random(_ span: Duration) -> Duration {
    span * Double.random(in: 0..<1, using: &generator)
  }
}
