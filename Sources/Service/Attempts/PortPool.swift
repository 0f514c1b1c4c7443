/// The UDP ports for media, one for each job that has a process. Pure.
struct PortPool: Sendable, Hashable {
  private let range: ClosedRange<UInt16>?
  private var taken: Set<UInt16> = []
  private var next: UInt16

  /// - Parameter range: nil: jobs use any port.
  init(_ range: ClosedRange<UInt16>?) {
    self.range = range
    next = range?.lowerBound ?? 0
  }

  /// Takes the port that was free for the longest time; nil if there is none, or no range.
  mutating func take() -> UInt16? {
    guard let range, taken.count < range.count else { return nil }
    for _ in 0..<range.count {
      let port = next
      next = port >= range.upperBound ? range.lowerBound : port + 1
      if taken.insert(port).inserted { return port }
    }
    return nil
  }

  /// Takes the port of a process that an earlier service started.
  mutating func take(_ port: UInt16) { taken.insert(port) }

  mutating func release(_ port: UInt16) { taken.remove(port) }
}
