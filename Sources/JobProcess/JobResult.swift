package import Call
package import JobProtocol
internal import Media
internal import Recorder

/// How a job ended: the fields of the journal's last entry.
package struct JobResult: Sendable, Hashable {
  package var reason: JobEndReason
  package var exitCode: Int32
  package var sentence: String

  package init(_ reason: JobEndReason, exitCode: Int32? = nil, _ sentence: String) {
    self.reason = reason
    self.exitCode = exitCode ?? reason.exitCode
    self.sentence = sentence
  }

  package init(_ failure: JobFailure) {
    self.init(failure.reason, exitCode: failure.exitCode, failure.sentence)
  }

  /// The exit code of recordings that the processor or the memory did not suffice for (EX_OSERR).
  private static let overloadedCode: Int32 = 71
  /// The exit code of an input that cannot be played (EX_NOINPUT).
  private static let inputCode: Int32 = 66

  /// What became of a call.
  ///
  /// - Parameter hasJoined: whether the server ever admitted us.
  package init(_ outcome: RoomCall.Outcome, hasJoined: Bool) {
    self.init(outcome.endReason, hasJoined: hasJoined)
    if let problem = outcome.recordingProblem {
      if problem.kind == .lost {
        self = JobResult(.diskFull, problem.sentence)
      } else if exitCode == 0 {
        exitCode = Self.overloadedCode
        sentence = problem.sentence
      }
    } else if let failure = outcome.sourceFailure {
      self = JobResult(.inputEnded, exitCode: Self.inputCode, failure)
    }
  }

  init(_ reason: RoomCall.EndReason, hasJoined: Bool) {
    let kind: JobEndReason =
      switch reason {
      case .left: .stopped
      case .timeIsUp, .observerFinished: .duration
      case .sourceEnded: .inputEnded
      case .signallingEnded, .signallingClosed: hasJoined ? .roomEnded : .serverUnreachable
      case .notAdmitted, .rejected: .serverRefused
      case .roomEmpty: .empty
      case .nobodyCame: .nobodyCame
      }
    self.init(kind, Self.sentence(reason.description))
  }

  /// A clause or sentence as a sentence.
  static func sentence(_ text: String) -> String {
    let text = text.printable(utf8Bytes: 500)
    return text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
  }
}
