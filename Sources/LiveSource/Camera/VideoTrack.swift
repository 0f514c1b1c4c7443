import Codecs
import FileSource

/// Schedules frames. It reads no clock, and reads one frame ahead, so that a due frame is ready. A frame of a pipe that
/// arrives after that, but before it is due, is still shown in its place.
///
/// Late frames are not caught up: if several frames have become due, only the newest is returned.
struct VideoTrack {
  /// A frame and its presentation time, in units of `MediaTimebase.rate` without pauses.
  struct Due: Sendable {
    var time: Int64
    var videoFrame: VideoFrame
  }

  private var timeline: VideoInputTimeline
  private let fit: VideoScaling
  private var prepared: Due?
  private var isOver = false
  /// The number of frames dropped because the next one was due as well.
  private(set) var dropped = 0

  init(_ timeline: VideoInputTimeline, fit: VideoScaling) {
    self.timeline = timeline
    self.fit = fit
  }

  /// Reads the next frame, unless one is ready.
  ///
  /// - Parameter now: the camera's time. Of the frames that are due by then, only the newest is decoded.
  mutating func prepare(now: Int64) throws(InputError) {
    guard prepared == nil, !isOver else { return }
    guard var time = try timeline.peek() else {
      isOver = true
      return
    }
    try timeline.advance()
    while let next = try timeline.peek(), next <= now {
      try timeline.advance()
      time = next
      dropped += 1
    }
    prepared = Due(time: time, videoFrame: try fit.fit(timeline.current.videoFrame()))
  }

  /// When to call `take` next: the frame's time, or, after the last frame, the end. nil when playback is over.
  var deadline: Int64? {
    if let prepared { return prepared.time }
    return isOver ? timeline.end : nil
  }

  /// Returns the frame that is due; nil if none is.
  mutating func take(now: Int64) throws(InputError) -> Due? {
    guard let first = prepared, first.time <= now else { return nil }
    if let next = try timeline.peek(), next <= now {
      dropped += 1
      prepared = nil
      try prepare(now: now)
    } else if timeline.current.replaceRepetition() {
      prepared?.videoFrame = try fit.fit(timeline.current.videoFrame())
    }
    defer { prepared = nil }
    return prepared
  }

  /// Informs the input that the last returned frame has been sent. Call it before the next frame is prepared.
  func wasSent() { timeline.current.videoFrameWasSent() }

  /// The frames that could not be decoded so far.
  var undecodable: Undecodable { timeline.current.undecodable }

  /// Whether the last frame has been returned and its duration has passed.
  func isFinished(now: Int64) -> Bool {
    isOver && prepared == nil && now >= (timeline.end ?? 0)
  }
}
