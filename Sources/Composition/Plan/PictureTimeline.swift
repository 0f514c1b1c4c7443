internal import Media

/// Makes the spans of a tile: in order, without holes between the first and the last one.
struct PictureTimeline: Sendable {
  private(set) var spans: [PictureSpan] = []

  /// What a gap in the video of a tile's stream means.
  ///
  /// - Parameter isFurther: whether the stream has a tile beside the one of its user, which vanishes with the stream.
  private static func state(of gap: ManifestTimes.Gap, isFurther: Bool) -> PictureState? {
    switch gap.reason {
    case .recoveredLate, .senderDiscarded, .dtx: nil
    case .muted: .nameTile(.muted)
    case .paused: .nameTile(.recordingPaused)
    case .streamEnded: isFurther ? .absent : .held(since: gap.start, .senderPaused)
    case .senderPaused: .held(since: gap.start, .senderPaused)
    case .reconnect: .held(since: gap.start, .reconnect)
    case .lost: .held(since: gap.start, .lost)
    case .waitingForKeyframe: .held(since: gap.start, .waitingForKeyframe)
    case .overloaded: .held(since: gap.start, .overloaded)
    case .diskStalled: .held(since: gap.start, .diskStalled)
    case .memoryFull: .held(since: gap.start, .memoryFull)
    }
  }

  /// Adds what a recording says, all times of which are in units of `MediaTimebase.rate` from its start.
  ///
  /// - Parameters:
  ///   - range: the part of the recording that counts.
  ///   - offset: is added to all times.
  mutating func add(_ video: ManifestTimes.Track?, in range: Range<Int64>, offset: Int64, isFurther: Bool) {
    guard let video else {
      append(.nameTile(.noVideo), range.lowerBound, range.upperBound, in: range, offset)
      return
    }
    append(.nameTile(.notYet), .min, video.start, in: range, offset)
    var time = video.start
    for gap in video.gaps where gap.end > time {
      guard let state = Self.state(of: gap, isFurther: isFurther) else { continue }
      let start = max(gap.start, time)
      appendFrames(of: video, time, start, in: range, offset)
      append(state, start, gap.end, in: range, offset)
      time = gap.end
    }
    appendFrames(of: video, time, .max, in: range, offset)
  }

  /// Adds a time without a gap: frames, and after the end of the video nothing. Audio that is a little longer than the video leaves the last
  /// frame as it is.
  private mutating func appendFrames(
    of video: ManifestTimes.Track, _ start: Int64, _ end: Int64, in range: Range<Int64>, _ offset: Int64
  ) {
    let isShort = end > range.upperBound && range.upperBound - video.end < HoldReason.senderPaused.patience
    let last = isShort ? end : min(max(video.end, start), end)
    append(.frames, start, last, in: range, offset)
    append(.held(since: last, .senderPaused), last, end, in: range, offset)
  }

  private mutating func append(
    _ state: PictureState, _ start: Int64, _ end: Int64, in range: Range<Int64>, _ offset: Int64
  ) {
    let (start, end) = (max(start, range.lowerBound), min(end, range.upperBound))
    guard start < end else { return }
    var state = state
    if case .held(let since, let reason) = state { state = .held(since: since + offset, reason) }
    append(PictureSpan(start: start + offset, end: end + offset, state: state))
  }

  /// Adds a time in which there is another picture than that of the stream.
  mutating func add(_ state: PictureState, _ range: Range<Int64>) {
    if !range.isEmpty { append(PictureSpan(start: range.lowerBound, end: range.upperBound, state: state)) }
  }

  /// Adds a span, whose state depends on the one before.
  private mutating func append(_ span: PictureSpan) {
    var span = span
    if let last = spans.last, last.end < span.start {
      spans.append(PictureSpan(start: last.end, end: span.start, state: .absent))
    }
    if case .held(_, let reason) = span.state { span.state = held(reason, since: span) }
    if let last = spans.last, last.state == span.state {
      spans[spans.count - 1].end = span.end
    } else {
      spans.append(span)
    }
  }

  /// The state of a hold after the last span: where there was no frame, none can stay.
  private func held(_ reason: HoldReason, since span: PictureSpan) -> PictureState {
    guard let last = spans.last else { return .nameTile(.notYet) }
    switch last.state {
    case .absent: return .nameTile(.notYet)
    case .nameTile(let reason): return .nameTile(reason)
    case .frames: return span.state
    case .held(let since, _):
      return last.look(at: last.end) == .nameTile ? .nameTile(.senderPaused) : .held(since: since, reason)
    }
  }

  /// Keeps what is in a range, and moves it so that the range begins at zero.
  mutating func clip(to range: Range<Int64>) {
    let zero = range.lowerBound
    spans = spans.compactMap { span in
      let (start, end) = (max(span.start, zero), min(span.end, range.upperBound))
      guard start < end else { return nil }
      var state = span.state
      if case .held(let since, let reason) = state { state = .held(since: since - zero, reason) }
      return PictureSpan(start: start - zero, end: end - zero, state: state)
    }
    while spans.first?.state == .absent { spans.removeFirst() }
    while spans.last?.state == .absent { spans.removeLast() }
  }
}
