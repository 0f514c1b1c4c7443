package import Media

/// What all users of a call together may make us keep and write: see docs/data-channels.md.
package struct MessageAllowances: Sendable {
  /// The bytes of chat that are logged and recorded.
  private var chat = SharedAllowance(
    capacity: Self.chatBytes, perParticipant: Self.chatBytesPerUser, perSecond: Self.chatBytesPerSecond)
  private var fileBytes: SharedAllowance
  private var files = SharedAllowance(capacity: Self.files, perParticipant: Self.filesPerUser)

  package static let chatBytes: Int64 = 16 << 20
  package static let chatBytesPerUser: Int64 = 1 << 20
  package static let chatBytesPerSecond: Int64 = 4 << 10
  package static let files: Int64 = 10_000
  package static let filesPerUser: Int64 = 1_000

  /// The bytes of the files of one user, and of all, as multiples of the largest file.
  package static func fileBytesPerUser(maximumFileBytes: Int64) -> Int64 {
    maximumFileBytes.multipliedReportingOverflow(by: 10).partialValue
  }

  private static func fileBytes(maximumFileBytes: Int64) -> Int64 {
    maximumFileBytes.multipliedReportingOverflow(by: 100).partialValue
  }

  /// - Parameter maximumFileBytes: at most 2^50, as the option allows.
  package init(maximumFileBytes: Int64) {
    fileBytes = SharedAllowance(
      capacity: Self.fileBytes(maximumFileBytes: maximumFileBytes),
      perParticipant: Self.fileBytesPerUser(maximumFileBytes: maximumFileBytes))
  }

  /// Takes the bytes of a message; false if that is beyond a limit.
  ///
  /// - Parameter taken: what its user has taken so far.
  package mutating func takeChat(_ bytes: Int, by taken: Int, now: MonotonicInstant) -> Bool {
    chat.take(Int64(bytes), by: Int64(taken), now: now)
  }

  /// Takes a file with this size; false if that is beyond a limit.
  ///
  /// - Parameter taken: the number of files and bytes that its user has taken so far.
  package mutating func takeFile(_ bytes: Int64, by taken: (files: Int, bytes: Int64), now: MonotonicInstant) -> Bool {
    guard files.take(1, by: Int64(taken.files), now: now) else { return false }
    if fileBytes.take(bytes, by: taken.bytes, now: now) { return true }
    files.giveBack(1)
    return false
  }

  /// Returns the bytes of a file that were not received.
  package mutating func giveBackFile(_ bytes: Int64) { fileBytes.giveBack(bytes) }
}
