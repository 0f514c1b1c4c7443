import Codecs
import FileSource
import LiveSource
import Media

/// Files that can be played.
enum FileTargets {
  /// The maximum frames and ticks of audio that are read of one input: the first ones show whether reading works.
  private static let maximumVideoFrames = 3
  private static let maximumTicks = 48_000
  /// Frames with more pixels are not decoded: the cost depends on their size, whatever the bytes are.
  private static let maximumPixels = 320 * 240

  /// Opens WebM, Ogg and IVF files, and checks that playing finds the same frames as opening.
  static func container(_ input: [UInt8]) throws(InvariantViolation) {
    let folder = try ScratchFolder()
    let path = try folder.write(input, as: "input")
    if let file = try? MediaFile(opening: path) {
      try require(file.period > 0 && !file.tracks.isEmpty, "A file that can be played has no length, or no track.")
      _ = (file.summary, file.notes, file.duration)
    }
    // As a composition reads it, with all that is left after damage.
    if let left = try? StoredFile(opening: path, accepting: Set(Codec.allCases), continuesAfterDamage: true) {
      for track in left.tracks { try play(track, of: left) }
    }
    guard let stored = try? StoredFile(opening: path, accepting: Set(Codec.allCases)) else { return }
    _ = stored.summary
    for track in stored.tracks { try play(track, of: stored) }
    let size = stored.track(.video)?.size
    guard size.map({ $0.width * $0.height <= maximumPixels }) ?? true else { return }
    try decode(path)
  }

  private static func play(_ track: StoredTrack, of stored: StoredFile) throws(InvariantViolation) {
    do {
      let reader = try stored.reader(of: track)
      for _ in 0..<2 {
        var (frames, last) = (0, Int64(0))
        while let frame = try reader.next() {
          frames += 1
          try require(frame.time >= last, "A frame's time is \(frame.time) after one at \(last).")
          last = frame.time
        }
        try require(frames == track.frames, "Of \(track.frames) frames \(frames) are played.")
        try reader.rewind()
      }
    } catch let error as InvariantViolation {
      throw error
    } catch {
      throw InvariantViolation("A file that was scanned successfully cannot be played: \(error)")
    }
  }

  /// Opens Y4M files.
  static func plain(_ input: [UInt8]) throws(InvariantViolation) {
    let folder = try ScratchFolder()
    let path = try folder.write(input, as: "input")
    _ = try? MediaFile(opening: path)
    try decode(path)
  }

  /// Reads the headers of the chunks of a WAV file. What reads its samples is in another process.
  static func wave(_ input: [UInt8]) throws(InvariantViolation) {
    let folder = try ScratchFolder()
    let path = try folder.write(input, as: "input")
    guard let file = try? OpenFile(path), let header = try? WAVHeader(file) else { return }
    try require(!header.isEmpty || !header.isStreamed, "A file without samples is played to its end.")
  }

  /// Opens a file as a live camera does, and reads its first frames and its first audio.
  private static func decode(_ path: String) throws(InvariantViolation) {
    let found: InputFile.Found
    do {
      found = try InputFile.check(path, rate: nil)
    } catch {
      try require(error.description.utf8.count < 400, "An error message has \(error.description.utf8.count) bytes.")
      return
    }
    let clock = CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0))
    if let video = found.video, let input = try? video.open(clock) {
      try require(video.interval > 0, "The frame interval is not positive.")
      for _ in 0..<2 {
        for _ in 0..<maximumVideoFrames {
          guard let time = try? input.peek() else { break }
          try require(time >= 0, "A frame's time is \(time).")
          try? input.advance()
          _ = try? input.videoFrame()
        }
        try? input.rewind()
      }
    }
    if let audio = found.audio, let input = try? audio.open(clock) {
      for _ in 0..<2 {
        var ticks = 0
        while ticks < maximumTicks, let piece = try? input.read(960) {
          ticks += piece.count
          try require(piece.channels == audio.channels, "\(piece.channels) channels are read of \(audio.channels).")
          if piece.count < 960 { break }
        }
        try? input.rewind()
      }
    }
  }
}
