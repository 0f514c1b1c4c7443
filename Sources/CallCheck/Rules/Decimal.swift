/// A number with at most so many decimals, without zeros at their end.
func decimal(_ value: Double, places: Int) -> String {
  guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
  let factor = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
  let scaled = Int64((abs(value) * Double(factor)).rounded())
  let sign = value < 0 && scaled > 0 ? "-" : ""
  let (whole, rest) = scaled.quotientAndRemainder(dividingBy: factor)
  if rest == 0 { return "\(sign)\(whole)" }
  var digits = String(rest)
  digits = String(repeating: "0", count: places - digits.count) + digits
  while digits.last == "0" { digits.removeLast() }
  return "\(sign)\(whole).\(digits)"
}
