import Media
import MediaMessages
import MediaWorker

/// Reads the tracks of a file through and collects what is known about them.
struct StoredFileScan {
  let file: OpenFile
  let format: MediaFile.Format
  /// The codecs that can be played.
  let codecs: Set<Codec>
  /// The kinds of tracks that are wanted.
  let kinds: Set<MediaKind>
  /// The longest time between two frames.
  let maximumGap: Int64
  /// Whether what follows damage is read.
  let continuesAfterDamage: Bool
  private(set) var notes: [String] = []
  /// What could not be read of any of the tracks.
  private(set) var damages: [FileDamage] = []

  init(
    file: OpenFile, format: MediaFile.Format, codecs: Set<Codec>, kinds: Set<MediaKind>, maximumGap: Int64,
    continuesAfterDamage: Bool
  ) {
    self.continuesAfterDamage = continuesAfterDamage
    self.kinds = kinds
    self.maximumGap = maximumGap
    self.file = file
    self.format = format
    self.codecs = codecs
  }

  /// Returns the tracks that can be played.
  mutating func run() throws(MediaFile.ReadError) -> [StoredTrack] {
    switch format {
    case .webM: try webM()
    case .ogg: try ogg()
    case .ivf: try ivf()
    case .mp4: try mp4()
    }
  }

  private mutating func mp4() throws(MediaFile.ReadError) -> [StoredTrack] {
    let all = try WorkerFile.session(file).description.tracks
    let chosen = try [choose(.video, of: all), choose(.audio, of: all)].compactMap(\.self)
    guard !chosen.isEmpty else {
      throw .noTrack(found: all.map { WorkerFile.name(ofCodec: $0.codec) })
    }
    var tracks: [StoredTrack] = []
    for (index, codec) in chosen {
      let track = all[index]
      if track.isEncrypted { throw .unsupported("its \(codec.name) track is encrypted") }
      if track.channels > 2 {
        throw .unsupported("its audio has \(track.channels) channels, and a call carries one or two")
      }
      let traits = Traits(
        channels: max(1, track.channels), preSkip: Int64(track.preSkip), codecPrivate: track.extradata)
      if let surveyed = try survey(codec, number: UInt64(index), traits) { tracks.append(surveyed) }
    }
    return tracks
  }

  /// Returns the first track of a kind and its codec; nil if there is none of that kind.
  private func choose(
    _ kind: MediaKind, of tracks: [FileDescription.Track]
  ) throws(MediaFile.ReadError) -> (Int, Codec)? {
    let candidates = tracks.indices.filter { kinds.contains(kind) && tracks[$0].kind.isOf(kind) }
    for index in candidates {
      guard let codec = Codec(ffmpeg: tracks[index].codec), codecs.contains(codec) else {
        continue
      }
      return (index, codec)
    }
    guard let other = candidates.first else { return nil }
    throw .unsupportedCodec(kind, WorkerFile.name(ofCodec: tracks[other].codec))
  }

  private mutating func webM() throws(MediaFile.ReadError) -> [StoredTrack] {
    let all = try MatroskaReader(file, continuesAfterDamage: continuesAfterDamage).tracks
    let chosen = try [choose(.video, of: all), choose(.audio, of: all)].compactMap(\.self)
    guard !chosen.isEmpty else { throw .noTrack(found: all.map(\.codecName)) }
    for track in chosen { try track.refuseWhatCannotBePlayed() }

    var tracks: [StoredTrack] = []
    for track in chosen {
      guard let codec = track.codec else { continue }
      let head = track.opusHead
      let traits = Traits(
        channels: head?.channels ?? track.channels, preSkip: head?.preSkip ?? 0, codecPrivate: track.codecPrivate)
      if let surveyed = try survey(codec, number: track.number, traits) { tracks.append(surveyed) }
    }
    let others = all.count - chosen.count
    if others > 0 { notes.append("\(others) more \(others == 1 ? "track is" : "tracks are") skipped.") }
    return tracks
  }

  private mutating func ogg() throws(MediaFile.ReadError) -> [StoredTrack] {
    let head = try OggReader(file, continuesAfterDamage: continuesAfterDamage).head
    let traits = Traits(channels: head?.channels ?? 1, preSkip: head?.preSkip ?? 0)
    return try [survey(OggReader.codec, number: 0, traits)].compactMap(\.self)
  }

  private mutating func ivf() throws(MediaFile.ReadError) -> [StoredTrack] {
    let codec = try IVFReader(file).codec
    guard codecs.contains(codec) else { throw .unsupportedCodec(.video, codec.name) }
    return try [survey(codec, number: 0, Traits())].compactMap(\.self)
  }

  /// Returns the first track of a kind that can be played, as players choose it; nil if there is none of that kind.
  private func choose(_ kind: MediaKind, of tracks: [MatroskaTrack]) throws(MediaFile.ReadError) -> MatroskaTrack? {
    let candidates = tracks.filter { kinds.contains(kind) && $0.kind == kind && $0.isEnabled }
    let playable = candidates.first { track in track.codec.map { $0.kind == kind && codecs.contains($0) } ?? false }
    if let playable { return playable }
    guard let other = candidates.first else { return nil }
    throw .unsupportedCodec(kind, other.codecName)
  }

  /// What a container's header says about a track's audio.
  private struct Traits {
    var channels = 1
    var preSkip: Int64 = 0
    var codecPrivate: [UInt8] = []
  }

  /// Reads a track through; nil if no frame of it can be played.
  private mutating func survey(
    _ codec: Codec, number: UInt64, _ traits: Traits
  ) throws(MediaFile.ReadError) -> StoredTrack? {
    let reader = try TrackReader(
      TrackReader.Source(
        file: file, format: format, codec: codec, number: number, continuesAfterDamage: continuesAfterDamage))
    let survey = try TrackScan.run(reader, of: codec, maximumGap: maximumGap)
    if reader.damages.count > damages.count { damages = reader.damages }
    let name = codec.kind == .video ? "video" : "audio"
    if reader.isTruncated, !notes.contains(Self.cutOff) { notes.append(Self.cutOff) }
    guard let start = survey.start else {
      notes.append("Its \(name) track has no frame that can be played.")
      return nil
    }
    if reader.skippedFrames > 0 {
      notes.append("\(reader.skippedFrames) of \(reader.skippedFrames + survey.frames) \(name) frames are skipped.")
    }
    let isReordered = codec.canReorderFrames && reader.framesMoved > 0
    if reader.framesMoved > 0, !isReordered {
      notes.append(
        "The times of \(reader.framesMoved) of \(survey.frames) video frames are before that of the previous one; they are "
          + "shown directly after it.")
    }
    guard isReordered || continuesAfterDamage || reader.framesMoved <= survey.frames / 2 else {
      throw .unsupported("the times of \(reader.framesMoved) of its \(survey.frames) video frames go back")
    }
    guard continuesAfterDamage || reader.skippedFrames <= survey.frames else {
      throw .unsupported(
        "\(reader.skippedFrames) of its \(reader.skippedFrames + survey.frames) \(name) frames cannot be played")
    }
    return StoredTrack(
      codec: codec, frames: survey.frames, keyframes: survey.keyframes,
      keyframeDistance: survey.keyframeDistance(until: reader.end), isReordered: isReordered,
      obstacle: survey.obstacle ?? reader.obstacle, size: survey.size, orientation: reader.orientation,
      channels: codec.kind == .audio ? traits.channels : nil, skippedFrames: reader.skippedFrames, start: start,
      end: reader.end, number: number, codecPrivate: traits.codecPrivate, preSkip: traits.preSkip)
  }

  private static let cutOff = "It is truncated; the whole frames are played."
}

extension FileDescription.Track.Kind {
  fileprivate func isOf(_ kind: MediaKind) -> Bool {
    switch kind {
    case .video: self == .video
    case .audio: self == .audio
    }
  }
}

/// Reads a track once before playback, so that no error appears later: counts its frames, and checks that its times are
/// plausible.
struct TrackScan {
  let codec: Codec
  private(set) var frames = 0
  private(set) var keyframes = 0
  private(set) var size: VideoSize?
  private(set) var start: Int64?
  /// What the first keyframe with such a sentence says that keeps the video from being sent as stored.
  private(set) var obstacle: String?
  /// The time of the last keyframe, and the longest time between two.
  private var lastKeyframe: Int64?
  private var longestDistance: Int64 = 0
  /// The times of the last `window` frames, as a ring buffer.
  private var times: [Int64] = []

  /// More than a thousand frames a second, over this many frames, is not a plausible recording.
  static let window = 256
  static let minimumWindow = Int64(MediaTimebase.rate) * Int64(window) / 1000
  /// The maximum gap between two frames.
  let maximumGap: Int64

  private init(codec: Codec, maximumGap: Int64) {
    self.codec = codec
    self.maximumGap = maximumGap
  }

  /// Reads a track to its end.
  static func run(
    _ reader: TrackReader, of codec: Codec, maximumGap: Int64
  ) throws(MediaFile.ReadError) -> TrackScan {
    var survey = TrackScan(codec: codec, maximumGap: maximumGap)
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
      guard frame.time - times[oldest] >= Self.minimumWindow else {
        throw .unsupported("its \(frame.kind) has more than 1000 frames a second")
      }
      times[oldest] = frame.time
    }
    frames += 1
    if frame.isKeyframe {
      obstacle = obstacle ?? FrameHeader.obstacle(keyframe: frame.payload, of: codec)
      keyframes += 1
      longestDistance = keyframeDistance(until: frame.time)
      lastKeyframe = frame.time
    }
    if size == nil { size = frame.size }
  }

  /// Returns the longest time between two keyframes, or between the last one and the end, in units.
  func keyframeDistance(until end: Int64) -> Int64 {
    max(longestDistance, lastKeyframe.map { end - $0 } ?? 0)
  }

  private func check(gap: Int64) throws(MediaFile.ReadError) {
    guard gap <= maximumGap else {
      let isHour = maximumGap == 3_600 * Int64(MediaTimebase.rate)
      let most = isHour ? "an hour" : "\(MediaTimebase.text(maximumGap)) s"
      throw .unsupported("it has a gap of \(MediaTimebase.text(gap)) s, and \(most) is the maximum")
    }
  }
}
