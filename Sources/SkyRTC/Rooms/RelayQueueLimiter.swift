/// The bytes of relayed signals that wait to be sent to one client, by sender. Pure.
///
/// A client is dropped when more bytes wait for it than its limit. So that no participant can cause that for another,
/// signals may use three quarters of the limit, and those of one sender a quarter. The rest is for the server's own
/// messages.
package struct RelayQueueLimiter: Sendable {
  private let maximumBytes: Int
  private var total = 0
  private var bySender: [String: Int] = [:]

  /// - Parameter maximumBytes: the limit for everything that waits for the client.
  package init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// Counts a signal before it is sent.
  ///
  /// - Returns: false if it exceeds its sender's share or that of all signals and must not be sent. A first signal
  ///   always fits into a share, whatever its size.
  package mutating func add(_ bytes: Int, from sender: String) -> Bool {
    let waiting = bySender[sender, default: 0]
    guard waiting == 0 || waiting + bytes <= maximumBytes / 4, total == 0 || total + bytes <= maximumBytes / 4 * 3
    else { return false }
    bySender[sender] = waiting + bytes
    total += bytes
    return true
  }

  /// Removes a signal that was sent or will never be sent.
  package mutating func remove(_ bytes: Int, from sender: String) {
    guard let waiting = bySender[sender] else { return }
    bySender[sender] = waiting > bytes ? waiting - bytes : nil
    total -= min(bytes, waiting)
  }
}
