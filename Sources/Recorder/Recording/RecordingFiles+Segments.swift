import Media

/// Where one file ends and the next begins.
extension RecordingFiles {
  /// Ends the files before a frame with which the next ones can begin, when that is due.
  func cut(before placed: PlacedFrame, now: ContinuousClock.Instant) {
    guard var segment else { return }
    let bytes = [webM?.file.size, ogg?.file.size].compactMap(\.self).max() ?? 0
    let decision = segment.decide(
      before: placed, bytes: bytes, hasVideo: webM != nil, isBehind: trailing != nil, now: now)
    switch decision {
    case .goOn: break
    case .askForKeyframe: surroundings.wantKeyframe(participant)
    case .cut:
      let hadVideo = webM != nil
      if let webM {
        if placed.frame.codec.kind == .audio, trailing == nil { trailing = webM } else { end(webM, now: now) }
      }
      if let ogg { end(ogg, now: now) }
      (webM, ogg) = (nil, nil)
      segment.begin(at: placed.position)
      self.segment = segment
      if hadVideo { beginWebM(at: placed.position) }
    }
    self.segment = segment
  }

  func beginWebM(at start: Duration) {
    let date = clock.nanosecondsSince2001(at: (intake.origin ?? clock.moment) + start)
    webM = WebMFile(file: file(ending: WebMFile.ending), segment: segment?.number, start: start, date: date)
  }

  func beginOgg(at start: Duration, channels: Int) {
    guard let writer = try? OggOpusWriter(serial: Int32.random(in: 1...Int32.max), channels: channels) else { return }
    ogg = OggFile(file: file(ending: OggFile.ending), writer: writer, segment: segment?.number, start: start)
  }

  private func file(ending: String) -> GrowingFile {
    GrowingFile(
      name: SafeName.file(base ?? "", segment: segment?.number, ending: ending), in: surroundings.folder)
  }
}
