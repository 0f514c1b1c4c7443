/// What is done to the datagrams of each participant between our engine and our socket, as a bad network would: media, ICE and
/// DTLS alike.
///
/// ```swift
/// configuration.impairment = try Impairment(parsing: "0s: send: loss=5%,burst=3; 10s: rate=150kbit; 20s: none", seed: 7)
/// ```
///
/// A datagram is first lost or not, then waits for its turn at the bottleneck, then for the time of the way:
///
/// ```
/// loss, burst ──► queue, rate ──► delay, jitter ──► reorder
/// ```
///
/// The same seed and the same datagrams at the same times give the same fate to each; whether one is lost, held back, and how
/// long it jitters depends on its number alone, counted among media, or among ICE and DTLS. Each participant, in the order in
/// which they came, and each direction has random numbers of its own.
///
/// The clock of each participant's script starts with the first RTP packet that goes over their line, either way; until then
/// the first step holds if it is that of 0 s.
public struct Impairment: Sendable, Hashable {
  /// Which way a datagram goes.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    case send
    case receive
  }

  /// From when on something holds.
  public struct Step: Sendable, Hashable {
    /// Since the clock's start.
    public internal(set) var time: Duration
    public internal(set) var conditions: Conditions

    init(at time: Duration, _ conditions: Conditions) {
      self.time = time
      self.conditions = conditions
    }
  }

  public var seed: UInt64
  /// What is done to what we send, in the order of time; nothing before the first step.
  public internal(set) var send: [Step]
  /// The same for what we receive.
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
  /// A stretch of the script in which the same holds for one direction.
  public struct Period: Sendable, Hashable {
    public var direction: Direction
    /// Since the clock's start.
    public var start: Duration
    /// Nil if it lasts for ever.
    public var end: Duration?
    public var conditions: Conditions
  }

  /// The script in periods, those of sending first, each direction in the order of time; without those in which nothing is done.
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
