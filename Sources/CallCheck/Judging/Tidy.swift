/// A figure as it stands in a report: finite, and with four decimals.
func roundedForReport(_ value: Double) -> Double {
  guard value.isFinite, abs(value) < 1e11 else { return 0 }
  let rounded = (value * 10_000).rounded() / 10_000
  // There is only one zero.
  return rounded == 0 ? 0 : rounded
}
