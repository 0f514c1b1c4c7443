import Media

/// Whole pictures from the thread that reads a pipe to the one that plays them: a few, so that a writer that is too fast
/// has to wait.
final class VideoFrameMailbox: Sendable {
  private struct State {
    var videoFrames: [[UInt8]] = []
    var hasEnded = false
    var isAbandoned = false
    /// Bytes behind the last whole picture.
    var rest = 0
    var format: Format?
    /// Why what comes cannot be played, or not on.
    var refusal: InputError?
  }

  /// What comes from a pipe.
  enum Format: Sendable, Hashable {
    case raw
    case y4m(Y4MHeader)
  }

  /// Pictures that wait at most.
  static let capacity = 4

  private let state = Monitor(State())

  /// Adds a picture; waits while the box is full.
  ///
  /// - Returns: false when nobody will take it.
  func put(_ videoFrame: [UInt8]) -> Bool {
    state.wait { state in
      if state.isAbandoned { return false }
      guard state.videoFrames.count < Self.capacity else { return nil }
      state.videoFrames.append(videoFrame)
      return true
    } ?? false
  }

  /// What will come is known.
  ///
  /// - Returns: false when it is taken for something else already.
  func announce(_ format: Format) -> Bool {
    state.withLock { state in
      if let known = state.format { return known == format }
      state.format = format
      return true
    }
  }

  /// What comes cannot be played, or not on.
  func refuse(_ refusal: InputError) {
    state.withLock { state in
      state.refusal = refusal
      state.hasEnded = true
    }
  }

  /// No picture will come.
  func end(rest: Int) {
    state.withLock { state in
      state.hasEnded = true
      state.rest = rest
    }
  }

  /// Nobody will take a picture.
  func abandon() { state.withLock { $0.isAbandoned = true } }

  var isUseless: Bool { state.withLock { $0.isAbandoned } }

  /// The next picture, if one is there.
  func take() -> [UInt8]? {
    state.withLock { $0.videoFrames.isEmpty ? nil : $0.videoFrames.removeFirst() }
  }

  /// Whether nothing is there and nothing will come.
  func isOver() throws(InputError) -> Bool {
    let (isOver, refusal) = state.withLock { ($0.hasEnded && $0.videoFrames.isEmpty, $0.refusal) }
    if isOver, let refusal { throw refusal }
    return isOver
  }

  /// Waits until it is known what will come. When that takes too long it is taken for raw pictures from then on.
  ///
  /// - Returns: nil when it is not known.
  func waitForFormat(_ patience: Duration) throws(InputError) -> Format? {
    _ = state.wait(atMost: patience) { $0.format != nil || $0.hasEnded ? true : nil }
    let (format, refusal) = state.withLock { state in
      let known = state.format
      if known == nil, state.refusal == nil { state.format = .raw }
      return (known, state.refusal)
    }
    if let refusal { throw refusal }
    return format
  }

  /// Waits for the first picture.
  ///
  /// - Returns: nil when none came in time; otherwise whether one is there, and how many bytes came if none is.
  func waitForFirst(_ patience: Duration) throws(InputError) -> (isThere: Bool, rest: Int)? {
    let found = state.wait(atMost: patience) { state in
      !state.videoFrames.isEmpty || state.hasEnded
        ? (isThere: !state.videoFrames.isEmpty, rest: state.rest, state.refusal) : nil
    }
    guard let (isThere, rest, refusal) = found else { return nil }
    if !isThere, let refusal { throw refusal }
    return (isThere, rest)
  }
}
