internal import FileSource
internal import FoundationEssentials
internal import Glibc
internal import Inspection
internal import Media

extension CompositionReport {
  /// The most changes of the layout that are listed.
  package static let maximumChanges = 10_000

  /// - Parameters:
  ///   - scan: what was found in the audio; nil if it was not decoded.
  ///   - mix: what mixing did; nil if there is no audio.
  ///   - losses: video that could not be decoded.
  ///   - problems: what is not in the plan, a sentence each.
  package init(
    _ plan: CompositionPlan, _ options: CompositionOptions, scan: SoundScan? = nil, mix: SoundMixReport? = nil,
    losses: [Loss] = [], problems: [String] = []
  ) {
    let hasVideo = !options.format.container.videoCodecs.isEmpty && (plan.hasVideo || options.format.isVideoWanted)
    output = Output(
      path: options.output, container: options.format.container, videoCodec: hasVideo ? options.format.video : nil,
      audioCodec: plan.hasAudio ? options.format.audio : nil, width: options.size.width, height: options.size.height,
      fps: options.rate.text, frames: options.rate.firstFrame(at: plan.duration))
    room = plan.room
    start = RecordedClock.text(plan.start)
    duration = Self.seconds(plan.duration)
    users = plan.users.enumerated().map { index, user in
      let found = scan.flatMap { $0.users.indices.contains(index) ? $0.users[index] : nil }
      let undecoded = mix.flatMap { $0.undecodedPackets.indices.contains(index) ? $0.undecodedPackets[index] : nil }
      return User(
        ids: user.ids, name: user.name, label: user.label, presence: user.presence.map(Span.init),
        peak: found.flatMap { Self.decibels($0.peak) }, loudness: found?.loudness.map(Self.tenths),
        gain: found.flatMap { Self.decibels($0.gain) }, undecodedPackets: undecoded)
    }
    tiles = plan.tiles.map { tile in
      Tile(
        user: tile.user, stream: tile.stream, screen: tile.isScreen, label: tile.label,
        spans: tile.spans.map(TileSpan.init))
    }
    recordings = Self.recordings(of: plan)
    let schedule = plan.schedule(
      of: options.layout, size: options.size, speech: scan?.spans ?? [], speakers: scan?.changes ?? [],
      rate: options.rate)
    layout = []
    for change in schedule {
      if change.frame >= output.frames || layout.count == Self.maximumChanges { break }
      let places = change.placements.map {
        Place(tile: $0.tile, x: $0.x, y: $0.y, width: $0.width, height: $0.height)
      }
      layout.append(Change(frame: change.frame, places: places))
    }
    speech = (scan?.spans ?? []).map { Speech(user: $0.user, start: Self.seconds($0.start), end: Self.seconds($0.end)) }
    speakers = (scan?.changes ?? []).map { Speaker(user: $0.user, time: Self.seconds($0.time)) }
    audio = mix.map { Audio(peak: Self.decibels($0.peak), greatestReduction: Self.tenths($0.greatestReduction)) }
    chapters = plan.chapters.map { Chapter(start: Self.seconds($0.start), title: $0.title) }
    messages = plan.messages.count
    self.losses = losses
    self.problems = plan.problems + problems + (mix?.problems ?? [])
    if let omitted = scan?.omittedSpans, omitted > 0 {
      self.problems.append("\(omitted) further times of speech are not listed.")
    }
  }

  /// The report as JSON, with its keys in alphabetical order.
  package var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self).escapingInvisibleInJSON + "\n"
    }
  }

  /// Each recording once, by user and time.
  private static func recordings(of plan: CompositionPlan) -> [Recording] {
    var known: Set<UntrustedText> = []
    var recordings: [Recording] = []
    let planned =
      plan.tiles.flatMap { tile in tile.recordings.map { (tile.user, tile.stream, $0) } }
      + plan.sounds.flatMap { sound in sound.recordings.map { (sound.user, sound.stream, $0) } }
    let videos = Set(plan.tiles.flatMap(\.recordings).map { path(of: $0) })
    let audios = Set(plan.sounds.flatMap(\.recordings).map { path(of: $0) })
    for (user, stream, recording) in planned {
      let path = path(of: recording)
      guard known.insert(path).inserted else { continue }
      let hasBoth = videos.contains(path) && audios.contains(path)
      recordings.append(
        Recording(
          manifest: path.string, user: user, stream: stream, offset: seconds(recording.offset),
          alignment: recording.alignment.source, error: recording.alignment.error.map(seconds),
          internalError: hasBoth && recording.alignment.internalError > 0
            ? seconds(recording.alignment.internalError) : nil))
    }
    return recordings.enumerated().sorted { one, other in
      (one.element.user, one.element.offset, one.offset) < (other.element.user, other.element.offset, other.offset)
    }.map(\.element)
  }

  private static func path(of recording: PlannedRecording) -> UntrustedText {
    UntrustedText(recording.recording.manifest?.path ?? recording.recording.files.first?.path ?? "")
  }

  static func seconds(_ units: Int64) -> Double {
    (Double(units) / Double(MediaTimebase.rate) * 1_000).rounded() / 1_000
  }

  /// A factor in dB with one decimal; nil for 0.
  private static func decibels(_ factor: Float) -> Double? {
    factor > 0 && factor.isFinite ? tenths(20 * log10(Double(factor))) : nil
  }

  private static func tenths(_ value: Double) -> Double { value.isFinite ? (value * 10).rounded() / 10 : 0 }
}

extension CompositionReport.Span {
  fileprivate init(_ range: Range<Int64>) {
    start = CompositionReport.seconds(range.lowerBound)
    end = CompositionReport.seconds(range.upperBound)
  }
}

extension CompositionReport.TileSpan {
  fileprivate init(_ span: PictureSpan) {
    start = CompositionReport.seconds(span.start)
    end = CompositionReport.seconds(span.end)
    switch span.state {
    case .absent: (state, reason) = (.absent, nil)
    case .frames: (state, reason) = (.frames, nil)
    case .nameTile(let why): (state, reason) = (.name, why.rawValue)
    case .held(_, let why): (state, reason) = (.held, why.rawValue)
    }
  }
}
