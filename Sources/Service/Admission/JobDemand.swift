/// What a job, or a user of one, needs of the machine.
package struct JobDemand: Sendable, Hashable {
  /// CPU time a second without that of verification, in thousandths of a processor.
  package var processors: Int64
  /// Private memory in bytes.
  package var memory: Int64
  /// Bytes written a second.
  package var bytesPerSecond: Int64

  package init(processors: Int64 = 0, memory: Int64 = 0, bytesPerSecond: Int64 = 0) {
    self.processors = processors
    self.memory = memory
    self.bytesPerSecond = bytesPerSecond
  }

  static func + (one: JobDemand, other: JobDemand) -> JobDemand {
    JobDemand(
      processors: sum(one.processors, other.processors), memory: sum(one.memory, other.memory),
      bytesPerSecond: sum(one.bytesPerSecond, other.bytesPerSecond))
  }

  /// The higher of both for each resource.
  func highest(_ other: JobDemand) -> JobDemand {
    JobDemand(
      processors: max(processors, other.processors), memory: max(memory, other.memory),
      bytesPerSecond: max(bytesPerSecond, other.bytesPerSecond))
  }

  func scaled(by factor: Double) -> JobDemand {
    func scaled(_ value: Int64) -> Int64 { Int64(clampingRounded: Double(value) * factor) }
    return JobDemand(
      processors: scaled(processors), memory: scaled(memory), bytesPerSecond: scaled(bytesPerSecond))
  }

  private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
    let (sum, overflow) = one.addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension Int64 {
  /// The nearest integer, or the nearest that there is; 0 for what is no number.
  init(clampingRounded value: Double) {
    guard value == value else {
      self = 0
      return
    }
    self = value >= 9.2e18 ? .max : value <= -9.2e18 ? .min : Int64(value.rounded())
  }
}
