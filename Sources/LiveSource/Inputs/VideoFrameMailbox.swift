import Media

/// Whole frames from the thread that reads a pipe to the one that plays them: a few, so that a writer that is too fast
/// has to wait.
final class VideoFrameMailbox: Sendable {
  private struct State {
    var videoFrames: [[UInt8]] = []
    var hasEnded = false
    var isAbandoned = false
    /// Bytes behind the last whole frame.
    var rest = 0
    var format: Format?
    /// Why what comes cannot be played, or not on.
    var rejection: InputError?
  }

  /// What comes from a pipe.
  enum Format: Sendable, Hashable {
    case raw
    case y4m(Y4MHeader)
  }

  /// Frames that wait at most.
  static let capacity = 4

  private let state = Monitor(State())

  /// Adds a frame; waits while the box is full.
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
  /// - Returns: false when it is treated as something else already.
  func announce(_ format: Format) -> Bool {
    state.withLock { state in
      if let known = state.format { return known == format }
      state.format = format
      return true
    }
  }

  /// What comes cannot be played, or not on.
  func refuse(_ rejection: InputError) {
    state.withLock { state in
      state.rejection = rejection
      state.hasEnded = true
    }
  }

  /// No frame will come.
  func end(rest: Int) {
    state.withLock { state in
      state.hasEnded = true
      state.rest = rest
    }
  }

  /// Nobody will take a frame.
  func abandon() { state.withLock { $0.isAbandoned = true } }

  var isUseless: Bool { state.withLock { $0.isAbandoned } }

  /// The next frame, if one is there.
  func take() -> [UInt8]? {
    state.withLock { $0.videoFrames.isEmpty ? nil : $0.videoFrames.removeFirst() }
  }

  /// Whether nothing is there and nothing will come.
  func isOver() throws(InputError) -> Bool {
    let (isOver, rejection) = state.withLock { ($0.hasEnded && $0.videoFrames.isEmpty, $0.rejection) }
    if isOver, let rejection { throw rejection }
    return isOver
  }

  /// Waits until it is known what will come. When that takes too long it is treated as raw frames from then on.
  ///
  /// - Returns: nil when it is not known.
  func waitForFormat(_ patience: Duration) throws(InputError) -> Format? {
    _ = state.wait(atMost: patience) { $0.format != nil || $0.hasEnded ? true : nil }
    let (format, rejection) = state.withLock { state in
      let known = state.format
      if known == nil, state.rejection == nil { state.format = .raw }
      return (known, state.rejection)
    }
    if let rejection { throw rejection }
    return format
  }

  /// Waits for the first frame.
  ///
  /// - Returns: nil when none came in time; otherwise whether one is there, and how many bytes came if none is.
  func waitForFirst(_ patience: Duration) throws(InputError) -> (isThere: Bool, rest: Int)? {
    let found = state.wait(atMost: patience) { state in
      !state.videoFrames.isEmpty || state.hasEnded
        ? (isThere: !state.videoFrames.isEmpty, rest: state.rest, state.rejection) : nil
    }
    guard let (isThere, rest, rejection) = found else { return nil }
    if !isThere, let rejection { throw rejection }
    return (isThere, rest)
  }
}
