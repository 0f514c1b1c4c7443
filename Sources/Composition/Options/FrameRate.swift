/// How many frames a composition has in a second, as a fraction: 30/1, 30000/1001.
package struct FrameRate: Sendable, Hashable {
  package let numerator: Int64
  package let denominator: Int64

  package static let standard = FrameRate(numerator: 30, denominator: 1)

  package init(numerator: Int64, denominator: Int64) {
    self.numerator = max(1, numerator)
    self.denominator = max(1, denominator)
  }
}
