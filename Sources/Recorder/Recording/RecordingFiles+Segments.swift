import Media

/// The boundaries between the segments of a recording. A segment is the part that is in one file of each kind, not the
/// Matroska element of this name.
extension RecordingFiles {
  /// Ends the current files before a frame that can begin the next ones, if the segment limit is reached.
  func cut(before timestamped: TimestampedFrame, now: MonotonicInstant) {
    guard var segment else { return }
    let bytes = [webM?.file.size, ogg?.file.size].compactMap(\.self).max() ?? 0
    let decision = segment.decide(
      before: timestamped, bytes: bytes, hasVideo: webM != nil, isBehind: trailing != nil, now: now)
    switch decision {
    case .goOn: break
    case .askForKeyframe: environment.wantKeyframe(TrackID(of: participant, stream: stream, kind: .video))
    case .cut:
      let hadVideo = webM != nil
      if timestamped.frame.codec.kind == .audio, trailing == nil {
        trailing = webM
        if let ogg { end(ogg, now: now) }
      } else if timestamped.frame.codec.kind == .video, let webM, let audioEnd, audioEnd < timestamped.position {
        lateAudio.append(LateAudio(webM: webM, ogg: ogg, end: timestamped.position))
      } else {
        for file in [webM, ogg] as [(any OutputContainer)?] { if let file { end(file, now: now) } }
      }
      (webM, ogg) = (nil, nil)
      segment.begin(at: timestamped.position)
      self.segment = segment
      if hadVideo { beginWebM(at: timestamped.position) }
    }
    self.segment = segment
  }

  func beginWebM(at start: Duration) {
    let date = clock.nanosecondsSince2001(at: (pipeline.origin ?? clock.moment) + start)
    webM = MatroskaFile(
      file: file(ending: MatroskaFile.ending, segment: segment?.number), segment: segment?.number, start: start,
      date: date)
  }

  func newOgg(at start: Duration, channels: Int, segment: Int?) -> OggFile? {
    guard let writer = try? OggOpusWriter(serial: Int32.random(in: 1...Int32.max), channels: channels) else {
      return nil
    }
    return OggFile(
      file: file(ending: OggFile.ending, segment: segment), writer: writer, segment: segment, start: start)
  }

  private func file(ending: String, segment: Int?) -> AppendFile {
    AppendFile(name: SafeFileName.file(base ?? "", segment: segment, ending: ending), in: environment.folder)
  }
}
