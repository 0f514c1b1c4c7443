import Media

/// Encodes what several users send alike only once.
struct SharedTracks {
  private struct Key: Hashable {
    let video: SentVideo
    let pattern: UInt16
    let clock: SenderClock
    let stay: Range<Double>
  }

  private var cameras: [Key: SharedCamera] = [:]

  /// Returns the video of a user, who shares it with those who send the same at the same time.
  mutating func camera(
    _ video: SentVideo, clock: SenderClock, pattern: UInt16, stay: Range<Double>
  ) throws -> any SentTrack {
    if video.reorders { return try ReorderingCamera(video, clock: clock, pattern: pattern, stay: stay) }
    let key = Key(video: video, pattern: pattern, clock: clock, stay: stay)
    let shared =
      cameras[key] ?? SharedCamera(PatternCamera(video, clock: clock, pattern: pattern, stay: stay))
    cameras[key] = shared
    return shared.reader()
  }
}

/// One encoded video for several readers.
private final class SharedCamera {
  private let camera: PatternCamera
  private var pieces: [SentPiece] = []
  private var readers: [SharedCameraReader] = []
  /// The number of the first piece that is kept.
  private var first = 0

  init(_ camera: PatternCamera) { self.camera = camera }

  var codec: Codec { camera.codec }

  func reader() -> SharedCameraReader {
    let reader = SharedCameraReader(self)
    readers.append(reader)
    return reader
  }

  func pieces(before time: Double, from position: Int) throws -> ArraySlice<SentPiece> {
    pieces += try camera.pieces(before: time)
    let begin = min(max(0, position - first), pieces.count)
    let end = pieces[begin...].firstIndex { $0.time >= time } ?? pieces.count
    return pieces[begin..<end]
  }

  /// Forgets what all readers have read.
  func forget() {
    let read = readers.map(\.position).min() ?? 0
    guard read - first > 100 else { return }
    pieces.removeFirst(min(read - first, pieces.count))
    first = read
  }
}

private final class SharedCameraReader: SentTrack {
  private let camera: SharedCamera
  private(set) var position = 0

  init(_ camera: SharedCamera) { self.camera = camera }

  var codec: Codec { camera.codec }

  func pieces(before time: Double) throws -> [SentPiece] {
    let pieces = Array(try camera.pieces(before: time, from: position))
    position += pieces.count
    camera.forget()
    return pieces
  }
}
