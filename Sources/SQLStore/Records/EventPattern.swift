/// Which events a receiver wants: the type of an event, the beginning of types such as `job.*`, or `*` for all.
package struct EventPattern: Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package static let all = EventPattern(known: "*")
  package static let maximumBytes = 64

  private init(known: String) { description = known }

  /// - Parameter text: small letters with points between words, of which the last one may be `*`; nil for another text, and for one that
  ///   fits no event.
  package init?(_ text: String) {
    guard (1...Self.maximumBytes).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "*") })
    else { return nil }
    description = text
    guard JobEventType.allCases.contains(where: { matches($0.rawValue) }) else { return nil }
  }

  package func matches(_ type: String) -> Bool {
    guard description.utf8.last == UInt8(ascii: "*") else { return description == type }
    let beginning = description.utf8.dropLast()
    guard beginning.isEmpty || beginning.last == UInt8(ascii: ".") else { return false }
    return type.utf8.starts(with: beginning)
  }

  /// The column `events`.
  static func text(_ patterns: [EventPattern]) -> String { patterns.map(\.description).joined(separator: " ") }

  /// Patterns of the column `events`, also those of a later version.
  static func patterns(in text: String) -> [EventPattern] {
    text.split(separator: " ").map { EventPattern(known: String($0)) }
  }
}
