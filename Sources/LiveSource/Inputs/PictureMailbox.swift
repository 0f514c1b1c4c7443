import Foundation

/// Whole pictures from the thread that reads a pipe to the one that plays them: a few, so that a writer that is too fast
/// has to wait.
final class PictureMailbox: @unchecked Sendable {
  // Sendable: everything below is only used under `condition`.
  private let condition = NSCondition()
  private var pictures: [[UInt8]] = []
  private var hasEnded = false
  private var isAbandoned = false
  /// Bytes behind the last whole picture.
  private var rest = 0

  /// Pictures that wait at most.
  static let capacity = 4

  /// Adds a picture; waits while the box is full.
  ///
  /// - Returns: false when nobody will take it.
  func put(_ picture: [UInt8]) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while pictures.count >= Self.capacity, !isAbandoned { condition.wait() }
    if isAbandoned { return false }
    pictures.append(picture)
    condition.broadcast()
    return true
  }

  /// No picture will come.
  func end(rest: Int) {
    condition.lock()
    hasEnded = true
    self.rest = rest
    condition.broadcast()
    condition.unlock()
  }

  /// Nobody will take a picture.
  func abandon() {
    condition.lock()
    isAbandoned = true
    condition.broadcast()
    condition.unlock()
  }

  var isUseless: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isAbandoned
  }

  /// The next picture, if one is there.
  func take() -> [UInt8]? {
    condition.lock()
    defer { condition.unlock() }
    guard !pictures.isEmpty else { return nil }
    condition.broadcast()
    return pictures.removeFirst()
  }

  /// Whether the picture that waits longest begins with some bytes.
  func first(startsWith bytes: [UInt8]) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    return pictures.first?.starts(with: bytes) ?? false
  }

  /// Whether nothing is there and nothing will come.
  var isOver: Bool {
    condition.lock()
    defer { condition.unlock() }
    return hasEnded && pictures.isEmpty
  }

  /// Waits for the first picture.
  ///
  /// - Returns: nil when none came in time; otherwise whether one is there, and how many bytes came if none is.
  func waitForFirst(_ patience: TimeInterval) -> (isThere: Bool, rest: Int)? {
    condition.lock()
    defer { condition.unlock() }
    let end = Date(timeIntervalSinceNow: patience)
    while pictures.isEmpty, !hasEnded {
      if !condition.wait(until: end) { return nil }
    }
    return (!pictures.isEmpty, rest)
  }
}
