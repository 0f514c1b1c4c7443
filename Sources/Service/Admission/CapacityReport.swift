/// A resource of the machine that jobs share.
package enum CapacityResource: String, Sendable, Hashable, CaseIterable, Codable {
  /// Processors, in thousandths of one.
  case processors
  /// Bytes of memory.
  case memory
  /// UDP ports of the range in the configuration.
  case udpPorts
  /// Bytes of free disk above the minimum.
  case disk
}

/// What jobs use of a resource, and what they may use.
package struct CapacityFigure: Sendable, Hashable {
  /// What running jobs use, measured, and what is reserved for those that start.
  package var used: Int64
  /// What all jobs together may use.
  package var limit: Int64

  package init(used: Int64, limit: Int64) {
    self.used = used
    self.limit = limit
  }

  package var free: Int64 { max(limit - used, 0) }
}

/// The figures of all resources; one without a limit is missing.
package struct CapacityReport: Sendable, Hashable {
  package var figures: [CapacityResource: CapacityFigure]
  /// What the next job is expected to need.
  package var nextJob: [CapacityResource: Int64]

  package init(figures: [CapacityResource: CapacityFigure] = [:], nextJob: [CapacityResource: Int64] = [:]) {
    self.figures = figures
    self.nextJob = nextJob
  }
}

/// Why a job is not accepted.
package struct CapacityShortage: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Cause: Sendable, Hashable {
    case resource(CapacityResource, needed: Int64, free: Int64)
    /// The service ends, or has not yet begun.
    case notAccepting
  }

  package var cause: Cause

  package init(_ cause: Cause) { self.cause = cause }

  /// A sentence.
  package var description: String {
    switch cause {
    case .notAccepting: "The service does not accept jobs at the moment."
    case .resource(.disk, let needed, let free):
      "The disk has less free space than it must keep: \(bytes(free)) of \(bytes(needed))."
    case .resource(.memory, let needed, let free):
      "The memory for jobs is used: the job needs \(bytes(needed)), and \(bytes(free)) are free."
    case .resource(.udpPorts, let needed, let free):
      "The UDP ports for jobs are used: the job needs \(needed), and \(free) are free."
    case .resource(.processors, let needed, let free):
      "The processors are used: the job needs \(thousandths(needed)) of a processor, and \(thousandths(free)) are free."
    }
  }

  private func bytes(_ count: Int64) -> String { "\(count / 1_000_000) MB" }

  private func thousandths(_ count: Int64) -> String {
    let hundredths = String(count / 10 % 100)
    return "\(count / 1_000).\(hundredths.count < 2 ? "0" : "")\(hundredths)"
  }
}
