/// What a measurement came to in one call.
enum Figure: Sendable, Hashable {
  /// In the measurement's own unit, and what there is to say about it, for example " from 4.1 s on, because the sender sent
  /// nothing"; empty when there is nothing.
  case value(Double, detail: String)
  /// Why there is none, as a clause: "no picture was decoded".
  case missing(String)
  /// Why this machine could not tell, as a clause.
  case inconclusive(String)

  static func value(_ value: Double) -> Figure { .value(value, detail: "") }

  static func value(_ count: Int) -> Figure { .value(Double(count)) }

  static func value(_ count: UInt64) -> Figure { .value(Double(count)) }

  /// The number alone; nil where there is none.
  var number: Double? {
    if case .value(let value, _) = self { return value }
    return nil
  }
}
