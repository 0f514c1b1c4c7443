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
  private var format: Format?
  /// Why what comes cannot be played, or not on.
  private var refusal: InputRefusal?

  /// What comes from a pipe.
  enum Format: Sendable, Hashable {
    case raw
    case y4m(Y4MHeader)
  }

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

  /// What will come is known.
  ///
  /// - Returns: false when it is taken for something else already.
  func announce(_ format: Format) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if let known = self.format { return known == format }
    self.format = format
    condition.broadcast()
    return true
  }

  /// What comes cannot be played, or not on.
  func refuse(_ refusal: InputRefusal) {
    condition.lock()
    self.refusal = refusal
    hasEnded = true
    condition.broadcast()
    condition.unlock()
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

  /// Whether nothing is there and nothing will come.
  func isOver() throws(InputRefusal) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    guard hasEnded, pictures.isEmpty else { return false }
    if let refusal { throw refusal }
    return true
  }

  /// Waits until it is known what will come. When that takes too long it is taken for raw pictures from then on.
  ///
  /// - Returns: nil when it is not known.
  func waitForFormat(_ patience: TimeInterval) throws(InputRefusal) -> Format? {
    condition.lock()
    defer { condition.unlock() }
    let end = Date(timeIntervalSinceNow: patience)
    while format == nil, !hasEnded {
      if !condition.wait(until: end) { break }
    }
    if let refusal { throw refusal }
    if let format { return format }
    format = .raw
    return nil
  }

  /// Waits for the first picture.
  ///
  /// - Returns: nil when none came in time; otherwise whether one is there, and how many bytes came if none is.
  func waitForFirst(_ patience: TimeInterval) throws(InputRefusal) -> (isThere: Bool, rest: Int)? {
    condition.lock()
    defer { condition.unlock() }
    let end = Date(timeIntervalSinceNow: patience)
    while pictures.isEmpty, !hasEnded {
      if !condition.wait(until: end) { return nil }
    }
    if pictures.isEmpty, let refusal { throw refusal }
    return (!pictures.isEmpty, rest)
  }
}
