import Media

/// A track read through once before anything is played, so that playing meets no surprise: what is in it, and whether it
/// is sane.
struct TrackScan {
  private(set) var frames = 0
  private(set) var keyframes = 0
  private(set) var size: VideoSize?
  private(set) var start: Int64?
  /// The last `window` frames' times, as a ring.
  private var times: [Int64] = []

  /// More than a thousand frames a second over this many frames is no recording.
  static let window = 256
  static let shortestWindow = Int64(FileTime.rate) * Int64(window) / 1000
  /// A longer hole between two frames is no recording: an hour.
  static let maximumGap = 3600 * Int64(FileTime.rate)

  /// Reads a track to its end.
  static func run(_ reader: TrackReader) throws(MediaFile.ReadError) -> TrackScan {
    var survey = TrackScan()
    while let frame = try reader.next() { try survey.add(frame) }
    return survey
  }

  private mutating func add(_ frame: FileFrame) throws(MediaFile.ReadError) {
    if start == nil { start = frame.time }
    if times.count < Self.window {
      if let last = times.last { try check(gap: frame.time - last) }
      times.append(frame.time)
    } else {
      let oldest = frames % Self.window
      try check(gap: frame.time - times[(oldest + Self.window - 1) % Self.window])
      guard frame.time - times[oldest] >= Self.shortestWindow else {
        throw .unsupported("its \(frame.kind) has more than 1000 frames a second")
      }
      times[oldest] = frame.time
    }
    frames += 1
    if frame.isKeyframe { keyframes += 1 }
    if size == nil { size = frame.size }
  }

  private func check(gap: Int64) throws(MediaFile.ReadError) {
    guard gap <= Self.maximumGap else {
      throw .unsupported("nothing is played for \(FileTime.text(gap)) s in its middle, and an hour is the most")
    }
  }
}
