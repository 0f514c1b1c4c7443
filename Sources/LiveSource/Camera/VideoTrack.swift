import Codecs
import FileSource

/// Says which frame is due. Looks at no clock; reads one frame ahead, so that a due one is there.
///
/// A camera that was kept from looking does not make up for it: of several frames that have become due only the newest
/// is given.
struct VideoTrack {
  /// A frame and when it is to be shown, in units of `FileTime.rate`, pauses skipped.
  struct Due: Sendable {
    var time: Int64
    var videoFrame: VideoFrame
  }

  private var line: VideoInputTimeline
  private let fit: VideoScaling
  private var prepared: Due?
  private var isOver = false
  /// Frames that were overdue when the next was due as well.
  private(set) var leftOut = 0

  init(_ line: VideoInputTimeline, fit: VideoScaling) {
    self.line = line
    self.fit = fit
  }

  /// Reads the next frame, if none is there.
  ///
  /// - Parameter now: the camera's time. Of the frames that are due by then only the newest is read.
  mutating func prepare(now: Int64) throws(InputError) {
    guard prepared == nil, !isOver else { return }
    guard var time = try line.peek() else {
      isOver = true
      return
    }
    try line.advance()
    while let next = try line.peek(), next <= now {
      try line.advance()
      time = next
      leftOut += 1
    }
    prepared = Due(time: time, videoFrame: try fit.fit(line.current.videoFrame()))
  }

  /// When there is next something to do: the frame's time, or, behind the last, the end. nil when all is over.
  var deadline: Int64? {
    if let prepared { return prepared.time }
    return isOver ? line.end : nil
  }

  /// The frame that is due; nil when none is.
  mutating func take(now: Int64) throws(InputError) -> Due? {
    guard let first = prepared, first.time <= now else { return nil }
    if let next = try line.peek(), next <= now {
      leftOut += 1
      prepared = nil
      try prepare(now: now)
    }
    defer { prepared = nil }
    return prepared
  }

  /// The frame that was taken last has been sent. Called before the next is prepared.
  func wasSent() { line.current.videoFrameWasSent() }

  /// What could not be decoded until now.
  var undecodable: Undecodable { line.current.undecodable }

  /// Whether the last frame has been given and has had its time.
  func isFinished(now: Int64) -> Bool {
    isOver && prepared == nil && now >= (line.end ?? 0)
  }
}
