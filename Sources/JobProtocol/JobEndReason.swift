/// Why a job ended: a fixed list.
package enum JobEndReason: String, Sendable, Hashable, CaseIterable, Codable {
  /// Somebody stopped it.
  case stopped
  /// The duration of the specification has passed, or a check has measured for as long as it was to.
  case duration
  /// All users left, and nobody came for `emptyFor`.
  case empty
  /// Nobody came within `nobodyWithin`.
  case nobodyCame
  /// The server ended the call.
  case roomEnded
  /// The input ended, or cannot be played.
  case inputEnded
  /// The server refused the join or what we publish.
  case serverRefused
  /// The server was not reached.
  case serverUnreachable
  /// This machine has no room for the job; the process was never started.
  case noCapacity
  /// The process cannot run the job, or ended too often without a word.
  case crashing
  /// Recordings cannot be written.
  case diskFull
  /// The service ends, or no service was connected for `orphanLimit`.
  case drained

  /// Whether the job as a whole failed.
  package var isFailure: Bool {
    switch self {
    case .stopped, .duration, .empty, .nobodyCame, .roomEnded, .inputEnded, .drained: false
    case .serverRefused, .serverUnreachable, .noCapacity, .crashing, .diskFull: true
    }
  }

  /// The exit code of a process that ends for this reason and has nothing worse to say: those of `chatbot`, of which 69 is
  /// `EX_UNAVAILABLE`, 70 `EX_SOFTWARE` and 73 `EX_CANTCREAT` (sysexits.h).
  package var exitCode: Int32 {
    switch self {
    case .stopped, .duration, .empty, .nobodyCame, .roomEnded, .inputEnded, .drained: 0
    case .serverRefused, .serverUnreachable, .noCapacity: 69
    case .crashing: 70
    case .diskFull: 73
    }
  }

  /// The reason of which an exit code speaks, where it is all that is known.
  package init(exitCode: Int32) {
    self =
      switch exitCode {
      case 0: .stopped
      case 69: .serverUnreachable
      case 73: .diskFull
      default: .crashing
      }
  }
}
