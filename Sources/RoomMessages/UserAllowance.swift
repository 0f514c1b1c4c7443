import DataMessages
import Media
import Synchronization

/// The allowances of a call, from which its users take at the same time.
final class CallAllowances: Sendable {
  let state: Mutex<MessageAllowances>

  init(maximumFileBytes: Int64) {
    state = Mutex(MessageAllowances(maximumFileBytes: maximumFileBytes))
  }
}

/// What one user has taken of the allowances of a call.
struct UserAllowance {
  private let all: CallAllowances
  private(set) var chatBytes = 0
  private var files = 0
  private var fileBytes: Int64 = 0

  init(of all: CallAllowances) { self.all = all }

  /// Takes the bytes of a message; false if that is beyond a limit.
  mutating func takeChat(_ bytes: Int, now: MonotonicInstant) -> Bool {
    let taken = chatBytes
    let isTaken = all.state.withLock { $0.takeChat(bytes, by: taken, now: now) }
    guard isTaken else { return false }
    chatBytes += bytes
    return true
  }

  /// Takes a file with this size; false if that is beyond a limit.
  mutating func takeFile(_ bytes: Int64, now: MonotonicInstant) -> Bool {
    let taken = (files: files, bytes: fileBytes)
    let isTaken = all.state.withLock { $0.takeFile(bytes, by: taken, now: now) }
    guard isTaken else { return false }
    files += 1
    fileBytes += bytes
    return true
  }

  /// Returns the bytes of a file that were not received.
  mutating func giveBackFile(_ bytes: Int64) {
    let unused = max(0, bytes)
    fileBytes = max(0, fileBytes - unused)
    all.state.withLock { $0.giveBackFile(unused) }
  }
}
