import DataMessages
import Media
import Synchronization

/// What all users of a call together may make us keep and write: see docs/data-channels.md.
final class MessageAllowances: Sendable {
  private struct State {
    /// The bytes of chat that are logged and recorded.
    var chat = SharedAllowance(
      capacity: MessageAllowances.chatBytes, perParticipant: MessageAllowances.chatBytesPerUser,
      perSecond: MessageAllowances.chatBytesPerSecond)
    var fileBytes: SharedAllowance
    var files = SharedAllowance(capacity: MessageAllowances.files, perParticipant: MessageAllowances.filesPerUser)
  }

  static let chatBytes: Int64 = 16 << 20
  static let chatBytesPerUser: Int64 = 1 << 20
  static let chatBytesPerSecond: Int64 = 4 << 10
  static let files: Int64 = 10_000
  static let filesPerUser: Int64 = 1_000

  /// The bytes of the files of one user, and of all, as multiples of the largest file.
  static func fileBytesPerUser(maximumFileBytes: Int64) -> Int64 {
    maximumFileBytes.multipliedReportingOverflow(by: 10).partialValue
  }

  private static func fileBytes(maximumFileBytes: Int64) -> Int64 {
    maximumFileBytes.multipliedReportingOverflow(by: 100).partialValue
  }

  private let state: Mutex<State>

  /// - Parameter maximumFileBytes: at most 2^50, as the option allows.
  init(maximumFileBytes: Int64) {
    state = Mutex(
      State(
        fileBytes: SharedAllowance(
          capacity: Self.fileBytes(maximumFileBytes: maximumFileBytes),
          perParticipant: Self.fileBytesPerUser(maximumFileBytes: maximumFileBytes))))
  }

  /// Takes the bytes of a message.
  ///
  /// - Parameter taken: what its user has taken so far.
  func takeChat(_ bytes: Int, by taken: Int, now: MonotonicInstant = .now) -> Bool {
    state.withLock { $0.chat.take(Int64(bytes), by: Int64(taken), now: now) }
  }

  /// Takes a file with this size.
  ///
  /// - Parameter taken: the number of files and bytes that its user has taken so far.
  func takeFile(_ bytes: Int64, by taken: (files: Int, bytes: Int64), now: MonotonicInstant = .now) -> Bool {
    state.withLock { state in
      guard state.files.take(1, by: Int64(taken.files), now: now) else { return false }
      if state.fileBytes.take(bytes, by: taken.bytes, now: now) { return true }
      state.files.giveBack(1)
      return false
    }
  }

  /// Returns the bytes of a file that were not received.
  func giveBackFile(_ bytes: Int64) { state.withLock { $0.fileBytes.giveBack(bytes) } }
}

/// What one user has taken of the allowances of a call.
struct UserAllowance {
  private let all: MessageAllowances
  private(set) var chatBytes = 0
  private var files = 0
  private var fileBytes: Int64 = 0

  init(of all: MessageAllowances) { self.all = all }

  /// Takes the bytes of a message; false if that is beyond a limit.
  mutating func takeChat(_ bytes: Int, now: MonotonicInstant = .now) -> Bool {
    guard all.takeChat(bytes, by: chatBytes, now: now) else { return false }
    chatBytes += bytes
    return true
  }

  /// Takes a file with this size; false if that is beyond a limit.
  mutating func takeFile(_ bytes: Int64, now: MonotonicInstant = .now) -> Bool {
    guard all.takeFile(bytes, by: (files, fileBytes), now: now) else { return false }
    files += 1
    fileBytes += bytes
    return true
  }

  /// Returns the bytes of a file that were not received.
  mutating func giveBackFile(_ bytes: Int64) {
    let unused = max(0, bytes)
    fileBytes = max(0, fileBytes - unused)
    all.giveBackFile(unused)
  }
}
