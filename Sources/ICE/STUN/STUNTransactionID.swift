/// The 96 bits by which a STUN response is matched to its request (RFC 8489, 5).
package struct STUNTransactionID: Sendable, Hashable, CustomStringConvertible {
  package var high: UInt32
  package var low: UInt64

  package init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Draws a new one.
  package static func random(using generator: inout some RandomNumberGenerator) -> STUNTransactionID {
    STUNTransactionID(
      high: .random(in: .min ... .max, using: &generator), low: .random(in: .min ... .max, using: &generator))
  }

  /// 24 hexadecimal digits.
  package var description: String {
    func digits(_ value: some FixedWidthInteger) -> String {
      let text = String(value, radix: 16)
      return String(repeating: "0", count: value.bitWidth / 4 - text.count) + text
    }
    return digits(high) + digits(low)
  }
}
