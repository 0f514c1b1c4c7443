extension Impairment {
  /// What a line does to what goes over it in one direction. Shares are 0 to 1.
  public struct Conditions: Sendable, Hashable {
    /// The share of datagrams that are lost.
    public internal(set) var loss: Double = 0
    /// How many are lost in a row on average, at least 1 (a Gilbert model: the line is good, or loses everything); nil when
    /// each is lost or not by itself.
    public internal(set) var burst: Double?
    /// The way's time. It keeps the order.
    public internal(set) var delay: Duration = .zero
    /// The most that is added to the delay, evenly at random for each datagram. It keeps the order, as the queues do that
    /// make real jitter: one that would overtake another waits for it.
    public internal(set) var jitter: Duration = .zero
    /// The share of datagrams that are held back so that later ones overtake them, for ``heldBack``.
    public internal(set) var reorder: Double = 0
    /// Bits a second that the line carries, of UDP payload; nil for any number. What comes faster waits in the queue.
    public internal(set) var rate: Double?
    /// How long a datagram may wait in the queue, as behind a router with a buffer for so much: one that would wait longer
    /// is dropped.
    public internal(set) var queue: Duration = Self.usualQueue

    /// 200 ms: a common size of the buffer of a home router's uplink.
    public static let usualQueue: Duration = .milliseconds(200)
    /// For how long a datagram is held back that others are to overtake, evenly at random.
    public static let heldBack: ClosedRange<Duration> = .milliseconds(5)...(.milliseconds(30))

    init() {}

    /// The largest share that can be lost in bursts of a mean length: behind each there is one datagram that is not.
    static func mostLoss(burst: Double) -> Double { burst / (1 + burst) }
  }
}
