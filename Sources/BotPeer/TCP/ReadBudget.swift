internal import ICE
internal import Media
internal import NIOCore

/// Shares what a turn of the event loop does with received frames out between those who send them.
///
/// A turn lasts ``interval`` at least. In each, a sender has as many frames and bytes as one who sends media needs many times
/// over, however many connections they have; together all senders have a few times as much. What is left waits for the next
/// turn, and until then nothing more is read from its connection, so that TCP slows its sender down.
struct ReadBudget {
  /// Whom a frame is charged to.
  enum Sender: Hashable {
    case participant(ParticipantID)
    /// One who has not shown our password: all connections from one address or IPv6 /64 together.
    case network(IPAddress)

    static func stranger(at ip: IPAddress) -> Sender {
      if case .v6(let high, _) = ip { return .network(.v6(high: high, low: 0)) }
      return .network(ip)
    }
  }

  struct Amount {
    var frames = 0
    var bytes = 0

    static func += (sum: inout Amount, other: Amount) {
      sum.frames += other.frames
      sum.bytes += other.bytes
    }

    func isBelow(_ limit: Amount) -> Bool { frames < limit.frames && bytes < limit.bytes }
  }

  static let interval = TimeAmount.milliseconds(1)
  static let limitOfSender = Amount(frames: 64, bytes: 64 << 10)
  static let limitOfAll = Amount(frames: 256, bytes: 512 << 10)

  private var turnEnds = NIODeadline.uptimeNanoseconds(0)
  private var spent: [Sender: Amount] = [:]
  private var spentByAll = Amount()

  /// When the next turn begins.
  var nextTurn: NIODeadline { turnEnds }

  /// Whether all senders together have used up the turn.
  mutating func isExhausted(now: NIODeadline) -> Bool {
    begin(now: now)
    return !spentByAll.isBelow(Self.limitOfAll)
  }

  /// Returns what a sender has spent in this turn; nil if nothing is left.
  mutating func spent(by sender: Sender, now: NIODeadline) -> Amount? {
    if isExhausted(now: now) { return nil }
    let amount = spent[sender] ?? Amount()
    return amount.isBelow(Self.limitOfSender) ? amount : nil
  }

  /// Notes what was done for a sender.
  mutating func spend(_ amount: Amount, of sender: Sender) {
    spent[sender, default: Amount()] += amount
    spentByAll += amount
  }

  private mutating func begin(now: NIODeadline) {
    guard now >= turnEnds else { return }
    turnEnds = now + Self.interval
    spent.removeAll(keepingCapacity: true)
    spentByAll = Amount()
  }
}
