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
      for (place, step) in steps.enumerated() where step.conditions != Conditions() {
        let end = steps.dropFirst(place + 1).first?.time
        periods.append(Period(direction: direction, start: step.time, end: end, conditions: step.conditions))
      }
    }
    return periods
  }
}
