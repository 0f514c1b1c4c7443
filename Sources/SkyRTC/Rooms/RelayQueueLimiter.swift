/// The bytes of signals that wait to be sent to one client, by who sent them. Pure.
///
/// A client that takes more than may wait for it is dropped. So that no participant can bring that about, signals have three
/// quarters of that, and those of one participant a quarter: what is left is for what the server itself tells.
package struct RelayQueueLimiter: Sendable {
  private let maximumBytes: Int
  private var total = 0
  private var bySender: [String: Int] = [:]

  /// - Parameter maximumBytes: of all that may wait for the client.
  package init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// Counts a signal that is to be sent.
  ///
  /// - Returns: false if it exceeds its sender's share, or that of all signals; it is not to be sent then. The first one always
  ///   has room in a share, however long it is.
  package mutating func add(_ bytes: Int, from sender: String) -> Bool {
    let waiting = bySender[sender, default: 0]
    guard waiting == 0 || waiting + bytes <= maximumBytes / 4, total == 0 || total + bytes <= maximumBytes / 4 * 3
    else { return false }
    bySender[sender] = waiting + bytes
    total += bytes
    return true
  }

  /// Takes a signal off that was sent or will never be.
  package mutating func remove(_ bytes: Int, from sender: String) {
    guard let waiting = bySender[sender] else { return }
    bySender[sender] = waiting > bytes ? waiting - bytes : nil
    total -= min(bytes, waiting)
  }
}
