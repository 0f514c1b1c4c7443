import Media

/// Counts what is written of one track.
struct TrackTally: Sendable {
  /// Size changes that are listed; a sender that changes with every frame must not fill the memory.
  private static let longestList = 1_000

  private(set) var track: RecordingManifest.Track
  private var first: Duration?
  private var last = Duration.zero
  private var pictureLength = Duration.milliseconds(33)
  /// When the last frame ends.
  private(set) var end = Duration.zero

  init(codec: Codec) {
    track = RecordingManifest.Track(codec: codec)
    if codec.kind == .video {
      track.keyframes = 0
      track.sizes = []
    }
  }

  /// Counts a frame.
  ///
  /// - Parameter length: how long it is heard; nil for a picture, which is taken to last as long as the one before it.
  mutating func count(_ placed: PlacedFrame, length: Duration?) {
    let frame = placed.frame
    if first != nil, length == nil { pictureLength = min(placed.position - last, .seconds(1)) }
    let begin = first ?? placed.position
    first = begin
    last = placed.position
    end = max(end, placed.position + (length ?? pictureLength))
    track.frames += 1
    track.start = begin.roundedSeconds
    track.duration = (end - begin).roundedSeconds
    guard frame.codec.kind == .video, frame.isKeyframe else { return }
    track.keyframes = (track.keyframes ?? 0) + 1
    guard let size = frame.size, let listed = track.sizes, listed.count < Self.longestList else { return }
    if listed.last?.width != size.width || listed.last?.height != size.height {
      track.sizes?.append(.init(time: placed.position.roundedSeconds, width: size.width, height: size.height))
    }
  }

  /// Counts a packet of sound, and with it the most channels seen.
  mutating func count(_ placed: PlacedFrame, channels: Int, ticks: Int) {
    count(placed, length: Duration(opusTicks: Int64(ticks)))
    track.channels = max(track.channels ?? 0, channels)
  }
}
