import CallCheck

/// What `--measurements` prints.
enum MeasurementList {
  static var text: String {
    let width = Measurement.catalogue.map(\.name.count).max() ?? 0
    return Measurement.catalogue.map { measurement in
      let name = measurement.name + String(repeating: " ", count: width - measurement.name.count)
      return "\(name)  (\(measurement.unit.example))\n    \(measurement.meaning)"
    }.joined(separator: "\n")
  }
}
