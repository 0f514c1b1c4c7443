package import JobProtocol

/// Why a job ends before its time. The description is one sentence.
package struct JobFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package var reason: JobEndReason
  /// The exit code of the process.
  package var exitCode: Int32
  package var sentence: String

  package init(_ reason: JobEndReason, exitCode: Int32? = nil, _ sentence: String) {
    self.reason = reason
    self.exitCode = exitCode ?? reason.exitCode
    self.sentence = sentence
  }

  /// The specification or the secrets cannot be used: a new attempt would fail as well (EX_USAGE of sysexits.h).
  static func usage(_ sentence: String) -> JobFailure { JobFailure(.crashing, exitCode: usageCode, sentence) }

  /// The folder cannot be used (EX_CANTCREAT).
  static func folder(_ sentence: String) -> JobFailure { JobFailure(.diskFull, sentence) }

  /// The exit code of a job that cannot be run.
  package static let usageCode: Int32 = 64

  package var description: String { sentence }
}
