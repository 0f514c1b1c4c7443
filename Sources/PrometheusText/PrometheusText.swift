/// Writes the text format 0.0.4 of Prometheus. Pure.
enum PrometheusText {
  static func text(families: [String: MetricFamily], series: [MetricSeries]) -> String {
    var text = ""
    let byFamily = Dictionary(grouping: series) { $0.family.name }
    for (name, series) in byFamily.sorted(by: { $0.key < $1.key }) {
      guard let family = families[name] else { continue }
      text += "# HELP \(name) \(escaped(family.help, quotes: false))\n# TYPE \(name) \(family.kind.rawValue)\n"
      for one in series.sorted(by: { $0.labels < $1.labels }) { append(one, to: &text) }
    }
    return text
  }

  private static func append(_ series: MetricSeries, to text: inout String) {
    let value = series.current
    let (name, labels) = (series.family.name, series.labels)
    guard series.family.kind == .histogram else {
      text += "\(name)\(labels) \(number(value.sum))\n"
      return
    }
    var count: UInt64 = 0
    for (bound, inBucket) in zip(series.family.buckets + [.infinity], value.buckets) {
      count &+= inBucket
      text += "\(name)_bucket\(adding(bound: bound, to: labels)) \(count)\n"
    }
    text += "\(name)_sum\(labels) \(number(value.sum))\n\(name)_count\(labels) \(count)\n"
  }

  private static func adding(bound: Double, to labels: String) -> String {
    let own = "le=\"\(number(bound))\""
    return labels.isEmpty ? "{\(own)}" : "\(labels.dropLast()),\(own)}"
  }

  /// Returns labels in braces, sorted by name; an empty text for none. The first of two with the same name counts.
  static func labels(_ dimensions: [(String, String)]) -> String {
    var values: [String: String] = [:]
    for (name, value) in dimensions {
      let name = MetricFamily.validLabelName(name)
      if values[name] == nil { values[name] = value }
    }
    if values.isEmpty { return "" }
    let pairs = values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  /// A number as Go's `ParseFloat` reads it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
    return "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
