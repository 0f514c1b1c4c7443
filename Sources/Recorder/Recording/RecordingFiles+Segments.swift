import Media

/// The boundaries between the segments of a recording. A segment is the part that is in one file of each kind, not the
/// Matroska element of this name.
extension RecordingFiles {
  /// Ends the current files before a frame that can begin the next ones, if the segment limit is reached or if they cannot have a
  /// frame of its codec.
  ///
  /// - Parameter hasNewCodec: whether its codec is not that of the track's frame before it.
  func cut(before timestamped: TimestampedFrame, hasNewCodec: Bool, now: MonotonicInstant) {
    if hasNewCodec, !acceptCodec(of: timestamped.frame) { return beginSegment(at: timestamped, now: now) }
    let isTurned = isTurned(timestamped)
    if isTurned, timestamped.frame.isKeyframe {
      turned = timestamped.position
      return beginSegment(at: timestamped, now: now)
    }
    if !segment.isLimited, trailing == nil, !isTurned { return }
    let bytes = max(videoFile?.file.size ?? 0, audioFile?.file.size ?? 0)
    let decision = segment.decide(
      before: timestamped, bytes: bytes, hasVideo: videoFile != nil, isBehind: trailing != nil || isTurned,
      now: now)
    switch decision {
    case .goOn: break
    case .askForKeyframe: environment.wantKeyframe(TrackID(of: participant, stream: stream, kind: .video))
    case .cut: beginSegment(at: timestamped, start: segment.start(with: timestamped), now: now)
    }
  }

  /// Whether a frame of video has another orientation than its file states, so that the next keyframe begins another file. Up to then, and
  /// shortly after such a file has begun, frames stay with those that they depend on.
  private func isTurned(_ timestamped: TimestampedFrame) -> Bool {
    guard timestamped.frame.codec.kind == .video, trailing == nil, let stated = videoFile?.orientation,
      stated != timestamped.frame.orientation
    else { return false }
    return turned.map { timestamped.position - $0 >= Self.orientationInterval } ?? true
  }

  /// The minimum time between two files that begin because the orientation changed.
  static let orientationInterval = Duration.seconds(2)

  /// Whether a frame can be in the files that the next frames go to.
  private func acceptCodec(of frame: EncodedFrame) -> Bool {
    // Frames that depend on earlier ones stay with them.
    if frame.codec.kind == .video, trailing != nil, !frame.isKeyframe { return true }
    guard videoFile?.accepts(frame.codec) ?? true else { return false }
    return frame.codec.kind == .video || audioFile?.accepts(frame.codec) ?? true
  }

  /// - Parameter start: where the files begin; nil if that is at the frame.
  private func beginSegment(at timestamped: TimestampedFrame, start: Duration? = nil, now: MonotonicInstant) {
    let hadVideo = videoFile != nil
    let start = start ?? timestamped.position
    if timestamped.frame.codec.kind == .audio, trailing == nil {
      trailing = videoFile
      if let audioFile { end(audioFile, now: now) }
    } else if timestamped.frame.codec.kind == .video, let videoFile, let audioEnd, audioEnd < start {
      lateAudio.append(LateAudio(videoFile: videoFile, audioFile: audioFile, end: start))
    } else {
      for file in [videoFile, audioFile] as [(any OutputContainer)?] { if let file { end(file, now: now) } }
    }
    (videoFile, audioFile) = (nil, nil)
    segment.begin(at: start)
    for _ in 0..<Self.maximumSkippedNumbers where isTaken(segment.number) { segment.skipNumber() }
    if hadVideo { beginVideoFile(at: start) }
  }

  /// How many numbers are left out at most because files with them exist.
  private static let maximumSkippedNumbers = 100

  /// Whether files exist that have the name of a segment: those of another user whose name looks like that, or of an earlier
  /// recording of which a part was removed.
  private func isTaken(_ number: Int) -> Bool {
    (RecordingFileKind.allCases.map(\.rawValue) + ["json"]).contains { ending in
      environment.folder.contains(SafeFileName.file(base ?? "", segment: number, ending: ending))
    }
  }

  /// Begins the file with video and audio, of the kind that the present codecs of the tracks need.
  func beginVideoFile(at start: Duration) {
    let kind = MatroskaFile.kind(of: MediaKind.allCases.compactMap { codecs[$0] ?? pipeline.codec(of: $0) })
    videoFile = newMatroska(kind, at: start, segment: segment.nameNumber)
  }

  /// Returns a new file for audio alone, from a packet on.
  func newAudioFile(at timestamped: TimestampedFrame, segment: Int?) -> (any OutputContainer)? {
    guard let audio = timestamped.frame.header.audio else { return nil }
    guard timestamped.frame.codec == OggOpusWriter.codec else {
      return newMatroska(.mka, at: timestamped.position, segment: segment)
    }
    guard let writer = try? OggOpusWriter(serial: Int32.random(in: 1...Int32.max), channels: audio.channels) else {
      return nil
    }
    return OggFile(
      file: file(.ogg, segment: segment), writer: writer, segment: segment, start: timestamped.position)
  }

  private func newMatroska(_ kind: RecordingFileKind, at start: Duration, segment: Int?) -> MatroskaFile {
    let date = clock.nanosecondsSince2001(at: (pipeline.origin ?? clock.moment) + start)
    return MatroskaFile(kind, file: file(kind, segment: segment), segment: segment, start: start, date: date)
  }

  private func file(_ kind: RecordingFileKind, segment: Int?) -> AppendFile {
    AppendFile(
      name: SafeFileName.file(base ?? "", segment: segment, ending: kind.rawValue), in: environment.folder)
  }
}
