import Media

extension Impairment {
  /// The settings, by the names that they have in the text form.
  public enum Setting: String, Sendable, Hashable, CaseIterable {
    case loss
    case burst
    case delay
    case jitter
    case rate
    case queue
    case reorder

    /// An example of the setting's text form.
    var example: String {
      switch self {
      case .loss: "loss=5%"
      case .burst: "burst=3"
      case .delay: "delay=80ms"
      case .jitter: "jitter=20ms"
      case .rate: "rate=500kbit"
      case .queue: "queue=200ms"
      case .reorder: "reorder=1%"
      }
    }

    /// The range of its values, as a part of a sentence.
    var range: String {
      switch self {
      case .loss, .reorder: "0% to 100%"
      case .burst: "1 to 1000 datagrams in a row"
      case .delay, .jitter, .queue: "0ms to 10s"
      case .rate: "8kbit to 10Gbit"
      }
    }

    /// The description of a value that needs a unit; nil if the setting has no unit.
    var unit: String? {
      switch self {
      case .loss, .reorder: "a share in percent"
      case .burst: nil
      case .delay, .jitter, .queue: "a time in ms or s"
      case .rate: "bits a second in bit, kbit, Mbit or Gbit"
      }
    }

    func set(_ text: Substring, in conditions: inout Conditions) throws(ParseError) {
      switch self {
      case .loss: conditions.loss = try share(text)
      case .burst: conditions.burst = try value(text, ["": 1], 1...1_000)
      case .delay: conditions.delay = try span(text)
      case .jitter: conditions.jitter = try span(text)
      case .rate: conditions.rate = try value(text, UnitValue.bitrates, 8_000...10_000_000_000)
      case .queue: conditions.queue = try span(text)
      case .reorder: conditions.reorder = try share(text)
      }
    }

    private func share(_ text: Substring) throws(ParseError) -> Double {
      try value(text, ["%": 1], 0...100) / 100
    }

    private func span(_ text: Substring) throws(ParseError) -> Duration {
      .nanoseconds(Int64((try value(text, UnitValue.times, 0...10) * 1e9).rounded()))
    }

    private func value(
      _ text: Substring, _ units: [String: Double], _ range: ClosedRange<Double>
    ) throws(ParseError) -> Double {
      guard let quantity = UnitValue(text.lowercased()), text.first?.isNumber == true else {
        throw .notReadable(self, String(text))
      }
      guard let value = quantity.value(in: units) else {
        throw quantity.isBare ? .noUnit(self, String(text)) : .notReadable(self, String(text))
      }
      guard range.contains(value) else { throw .outOfRange(self, String(text)) }
      return value
    }
  }
}
