/// The value of `a=fmtp` after the payload type, as `name=value` pairs (RFC 8866, 6.15).
package struct FormatParameters: Sendable, Hashable {
  /// The pairs in their order; the value is nil where only a name, or a list such as `0-15`, is written.
  package var pairs: [Pair]

  package struct Pair: Sendable, Hashable {
    package var name: String
    package var value: String?
  }

  package init() {
    pairs = []
  }

  /// Far above what any program writes; what follows is treated as a part of the last one.
  private static let maximumPairs = 64

  package init(parsing text: String) {
    pairs = text.fields(separatedBy: ";", maximum: Self.maximumPairs).map { field in
      guard let (name, value) = field.cut(at: "=") else { return Pair(name: field.trimmed, value: nil) }
      return Pair(name: name.trimmed, value: value.trimmed)
    }
  }

  /// The value of the first parameter of that name, compared without regard to case.
  package subscript(name: String) -> String? {
    let wanted = name.lowercased()
    return pairs.first { $0.name.lowercased() == wanted }?.value
  }
}
