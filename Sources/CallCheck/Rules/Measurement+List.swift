extension Measurement {
  /// All measurements, each with an example of a rule and its meaning, for people.
  package static var list: String {
    let width = catalogue.map(\.name.count).max() ?? 0
    return catalogue.map { measurement in
      let name = measurement.name + String(repeating: " ", count: width - measurement.name.count)
      return "\(name)  (\(measurement.example))\n    \(measurement.meaning)"
    }.joined(separator: "\n")
  }
}
