import Media

/// A bitrate as written on the command line: `300k`, `500kbit`, `2M`, `2.5M`, or a plain number of bits per second.
package struct Bitrate: Sendable, Hashable, CustomStringConvertible {
  package let bitsPerSecond: Int

  /// The range that a call can use.
  package static let range = 50_000...50_000_000

  package init(bitsPerSecond: Int) {
    self.bitsPerSecond = bitsPerSecond
  }

  /// Parses a number with `k`, `M`, `G` or nothing behind it; `bit`, `bit/s`, `b/s` or `bps` may follow.
  package init(_ text: String) throws(ParseError) {
    guard let quantity = UnitValue(text.lowercased()), text.first?.isNumber == true,
      let value = quantity.value(in: UnitValue.bitrates.merging(["": 1]) { $1 })
    else { throw .noBitrate }
    let bits = value.rounded()
    guard bits >= Double(Self.range.lowerBound), bits <= Double(Self.range.upperBound) else { throw .outOfRange }
    bitsPerSecond = Int(bits)
  }

  /// The bitrate in a form that can be parsed again.
  package var description: String {
    if bitsPerSecond.isMultiple(of: 1_000_000) { return "\(bitsPerSecond / 1_000_000)M" }
    if bitsPerSecond.isMultiple(of: 1_000) { return "\(bitsPerSecond / 1_000)k" }
    return "\(bitsPerSecond)"
  }

  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable package static func parse(_ text: String) throws -> Bitrate { try Bitrate(text) }

  /// Why a text is not a bitrate.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case noBitrate
    case outOfRange

    package var description: String {
      switch self {
      case .noBitrate: "A bitrate is a number of bits per second, like 300k, 2M or 2.5M."
      case .outOfRange:
        "The bitrate must be between \(Bitrate(bitsPerSecond: Bitrate.range.lowerBound)) and "
          + "\(Bitrate(bitsPerSecond: Bitrate.range.upperBound))."
      }
    }
  }
}
