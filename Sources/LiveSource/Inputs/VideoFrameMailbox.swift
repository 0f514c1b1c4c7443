import Media

/// Passes whole frames from the thread that reads a pipe to the thread that plays them. It holds only a few, so that a
/// writer that is too fast has to wait.
final class VideoFrameMailbox: Sendable {
  private struct State {
    var videoFrames: [[UInt8]] = []
    var hasEnded = false
    var isAbandoned = false
    /// The number of bytes after the last whole frame.
    var rest = 0
    var format: Format?
    /// Why the data cannot be played, or not any further.
    var rejection: InputError?
  }

  /// The format of a pipe.
  enum Format: Sendable, Hashable {
    case raw
    case y4m(Y4MHeader)
  }

  /// The maximum number of waiting frames.
  static let capacity = 4

  private let state = Monitor(State())

  /// Adds a frame; waits while the mailbox is full.
  ///
  /// - Returns: false if the consumer is gone.
  func put(_ videoFrame: [UInt8]) -> Bool {
    state.wait { state in
      if state.isAbandoned { return false }
      guard state.videoFrames.count < Self.capacity else { return nil }
      state.videoFrames.append(videoFrame)
      return true
    } ?? false
  }

  /// Sets the format of the pipe.
  ///
  /// - Returns: false if it is already treated as another one.
  func announce(_ format: Format) -> Bool {
    state.withLock { state in
      if let known = state.format { return known == format }
      state.format = format
      return true
    }
  }

  /// Ends the frames with an error.
  func refuse(_ rejection: InputError) {
    state.withLock { state in
      state.rejection = rejection
      state.hasEnded = true
    }
  }

  /// Ends the frames.
  func end(rest: Int) {
    state.withLock { state in
      state.hasEnded = true
      state.rest = rest
    }
  }

  /// Records that the consumer is gone.
  func abandon() { state.withLock { $0.isAbandoned = true } }

  var isUseless: Bool { state.withLock { $0.isAbandoned } }

  /// Returns the next frame, if there is one.
  func take() -> [UInt8]? {
    state.withLock { $0.videoFrames.isEmpty ? nil : $0.videoFrames.removeFirst() }
  }

  /// Whether no frame is waiting and no more will arrive.
  func isOver() throws(InputError) -> Bool {
    let (isOver, rejection) = state.withLock { ($0.hasEnded && $0.videoFrames.isEmpty, $0.rejection) }
    if isOver, let rejection { throw rejection }
    return isOver
  }

  /// Waits until the format is known. On timeout, the data is treated as raw frames from then on.
  ///
  /// - Returns: nil on timeout.
  func waitForFormat(_ timeout: Duration) throws(InputError) -> Format? {
    _ = state.wait(atMost: timeout) { $0.format != nil || $0.hasEnded ? true : nil }
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
  /// - Returns: nil on timeout; otherwise whether a frame is there, and how many bytes were read if not.
  func waitForFirst(_ timeout: Duration) throws(InputError) -> (hasFrame: Bool, rest: Int)? {
    let found = state.wait(atMost: timeout) { state in
      !state.videoFrames.isEmpty || state.hasEnded
        ? (hasFrame: !state.videoFrames.isEmpty, rest: state.rest, state.rejection) : nil
    }
    guard let (hasFrame, rest, rejection) = found else { return nil }
    if !hasFrame, let rejection { throw rejection }
    return (hasFrame, rest)
  }
}
