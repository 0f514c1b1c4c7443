internal import Codecs
internal import Composition
internal import FileSource
internal import Inspection
internal import Media
internal import MediaWorker
internal import NIOCore

/// The video of a tile: reads its recordings in order, and decodes in a worker of its own up to a time.
///
/// Frames of a tile that is not shown are kept since the last keyframe, within a limit, and decoded when it is shown again.
final class StreamFrames {
  /// The newest decoded frame.
  let picture = StoredPicture()
  /// Frames that could not be decoded.
  private(set) var undecodedFrames = 0
  private(set) var decodedFrames = 0
  /// How often a process that decoded ended.
  private(set) var crashes = 0
  /// Files that could not be read, or not to their end, a sentence each.
  private(set) var problems: [String] = []

  private let recordings: [PlannedRecording]
  private var nextRecording = 0
  private var current: (recording: PlannedRecording, reader: RecordedTrackReader)?
  /// The frame that is due next.
  private var following: (time: Int64, frame: RecordedFrame)?
  /// Frames that are due and not decoded, from a keyframe on.
  private var backlog: [RecordedFrame] = []
  private var backlogBytes = 0
  private var worker: MediaWorker?
  private var decoder: VideoDecoder?
  private var failures = 0

  /// The maximum size of what is kept of a tile that is not shown.
  private static let maximumBacklog = 8 << 20
  /// A recording that fails in more places than this is given up.
  private static let maximumFailures = 20

  init(_ tile: PlannedTile) {
    recordings = tile.hasVideo ? tile.recordings.sorted { $0.range.lowerBound < $1.range.lowerBound } : []
  }

  /// Makes the picture the newest frame that is not later than a time. The times of the calls ascend.
  ///
  /// - Parameter isShown: whether the picture is needed.
  func advance(to time: Int64, isShown: Bool) {
    while let due = next(notAfter: time) {
      if due.frame.content.isKeyframe {
        backlog.removeAll(keepingCapacity: true)
        backlogBytes = 0
      }
      backlog.append(due.frame)
      backlogBytes += due.frame.content.payload.readableBytes
      if backlogBytes > Self.maximumBacklog { decodeBacklog() }
    }
    if isShown { decodeBacklog() }
  }

  // MARK: Reading

  /// Takes the next frame if it is due.
  private func next(notAfter time: Int64) -> (time: Int64, frame: RecordedFrame)? {
    while true {
      if let due = following {
        guard due.time <= time else { return nil }
        following = nil
        return due
      }
      guard let open = current else {
        guard nextRecording < recordings.count, recordings[nextRecording].range.lowerBound <= time else { return nil }
        begin(recordings[nextRecording])
        nextRecording += 1
        continue
      }
      guard let frame = read(open.reader) else {
        end()
        continue
      }
      let position = open.recording.offset + frame.time
      // What follows belongs to a later recording, or to nobody.
      if position >= open.recording.range.upperBound {
        end()
      } else {
        following = (position, frame)
      }
    }
  }

  private func begin(_ recording: PlannedRecording) {
    // The next recording has nothing of the one before.
    decodeBacklog()
    let track = RecordedTrack.opening(.video, of: recording.recording, problems: &problems)
    current = (recording, RecordedTrackReader(track))
    decoder = nil
    failures = 0
  }

  private func end() {
    current = nil
    if nextRecording == recordings.count {
      decodeBacklog()
      close()
    }
  }

  private func close() {
    crashes += worker?.crashes ?? 0
    decoder = nil
    worker = nil
  }

  private func read(_ reader: RecordedTrackReader) -> RecordedFrame? {
    while failures <= Self.maximumFailures {
      do throws(MediaFile.ReadError) {
        return try reader.next()
      } catch {
        failures += 1
        problems.append("A file of video ends early: \(error).")
      }
    }
    return nil
  }

  // MARK: Decoding

  private func decodeBacklog() {
    for frame in backlog { decode(frame) }
    backlog.removeAll(keepingCapacity: true)
    backlogBytes = 0
  }

  private func decode(_ frame: RecordedFrame) {
    do {
      let decoder = try decoder(for: frame.codec)
      decodedFrames += 1
      try decoder.decode(frame.content.payload) { picture.store($0) }
    } catch {
      undecodedFrames += 1
    }
  }

  private func decoder(for codec: Codec) throws(CodecError) -> VideoDecoder {
    if let decoder, decoder.codec == codec { return decoder }
    let worker = worker ?? MediaWorker(.foreground)
    self.worker = worker
    let made = try VideoDecoder(codec, in: worker, prefersWorker: true)
    decoder = made
    return made
  }

  /// How often a process ended so far.
  var allCrashes: Int { crashes + (worker?.crashes ?? 0) }
}
