import Media

extension MediaFile {
  static func surveyWebM(_ file: OpenFile, _ remarks: inout [String]) throws(Refusal) -> [Track] {
    let all = try WebMReader(file).tracks
    let chosen = try [choose(.video, of: all), choose(.audio, of: all)].compactMap(\.self)
    guard !chosen.isEmpty else { throw .noTrack(found: all.map(\.codecName)) }
    for track in chosen { try track.refuseWhatCannotBePlayed() }

    var tracks: [Track] = []
    for track in chosen {
      guard let codec = track.codec else { continue }
      let channels = OpusHead(parsing: track.codecPrivate)?.channels ?? track.channels
      let source = TrackReader.Source(file: file, format: .webM, codec: codec, number: track.number)
      if let surveyed = try survey(source, channels: channels, &remarks) { tracks.append(surveyed) }
    }
    let others = all.count - chosen.count
    if others > 0 { remarks.append("\(others) more \(others == 1 ? "track is" : "tracks are") left out.") }
    return tracks
  }

  static func surveyOgg(_ file: OpenFile, _ remarks: inout [String]) throws(Refusal) -> [Track] {
    let channels = try OggReader(file).head?.channels ?? 1
    let source = TrackReader.Source(file: file, format: .ogg, codec: .opus, number: 0)
    return try [survey(source, channels: channels, &remarks)].compactMap(\.self)
  }

  /// The first track of a kind that can be played, as players do; nil when there is none of that kind.
  private static func choose(_ kind: MediaKind, of tracks: [WebMTrack]) throws(Refusal) -> WebMTrack? {
    let candidates = tracks.filter { $0.kind == kind && $0.isEnabled }
    if let playable = candidates.first(where: { $0.codec?.kind == kind }) { return playable }
    guard let other = candidates.first else { return nil }
    throw .otherCodec(kind, other.codecName)
  }

  /// Reads a track through; nil when no frame of it can be played.
  private static func survey(
    _ source: TrackReader.Source, channels: Int, _ remarks: inout [String]
  ) throws(Refusal) -> Track? {
    let reader = try TrackReader(source)
    let survey = try TrackSurvey.run(reader)
    let name = source.codec == .vp8 ? "picture" : "sound"
    if reader.isTruncated, !remarks.contains(cutOff) { remarks.append(cutOff) }
    guard let start = survey.start else {
      remarks.append("Its \(name) track holds no frame that can be played.")
      return nil
    }
    if reader.skippedFrames > 0 {
      remarks.append("\(reader.skippedFrames) of \(reader.skippedFrames + survey.frames) \(name) frames are left out.")
    }
    guard reader.skippedFrames <= survey.frames else {
      throw .unsupported(
        "\(reader.skippedFrames) of its \(reader.skippedFrames + survey.frames) \(name) frames cannot be played")
    }
    return Track(
      codec: source.codec, frames: survey.frames, keyframes: survey.keyframes, size: survey.size,
      channels: source.codec == .opus ? channels : nil, duration: FileTime.duration(reader.end - start),
      skippedFrames: reader.skippedFrames, start: start, end: reader.end, number: source.number)
  }

  private static let cutOff = "It is cut off; what is whole is played."

  /// Tracks that begin this close together began together, but for the delay of an encoder: 50 ms, in units.
  private static let togetherLimit = Int64(FileTime.rate) / 20

  /// The time after which the file begins anew: when its longer track ends.
  ///
  /// Tracks that begin together, but for the few milliseconds that an Opus encoder puts in front, each begin anew at their
  /// own place; so the longer one goes on without a hole. Other tracks begin anew when the last has ended. The length is
  /// rounded up to a whole number of ticks of both clocks, so no round is ever a fraction of a tick off.
  static func period(of tracks: [Range<Int64>]) -> Int64 {
    let firstStart = tracks.map(\.lowerBound).min() ?? 0
    let lastStart = tracks.map(\.lowerBound).max() ?? 0
    let lastEnd = tracks.map(\.upperBound).max() ?? 0
    let longest = tracks.map { $0.upperBound - $0.lowerBound }.max() ?? 0
    return FileTime.roundedUp(lastStart - firstStart <= togetherLimit ? longest : lastEnd - firstStart)
  }
}
