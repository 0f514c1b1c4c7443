package import Composition
internal import FileSource
internal import Media
internal import MediaMessages
internal import MediaWorker
internal import TextDrawing

/// Composes the recordings of a call into one file. It waits for files and processes: it is for a thread of its own.
///
/// The video is made in parts of 60 s, each with an encoder of its own. What is finished stays in a folder beside the output until the
/// output is complete, so that the same command goes on after it was ended at any moment. The audio is encoded in one pass at the end.
package struct Composer: Sendable {
  private let plan: CompositionPlan
  private let options: CompositionOptions
  private let output: String

  /// The length of a part, in units of `MediaTimebase.rate`.
  private static let partLength = 60 * Int64(MediaTimebase.rate)
  private static let keyframeInterval = 2 * Int64(MediaTimebase.rate)
  /// How often a part is begun again after its encoder's process has ended.
  private static let maximumTries = 3

  /// - Parameter output: the path of the file.
  package init(_ plan: CompositionPlan, _ options: CompositionOptions, output: String) {
    (self.plan, self.options, self.output) = (plan, options, output)
  }

  /// Whether the output has video.
  private var hasVideo: Bool {
    switch options.format.container {
    case .mp4, .webm, .mkv: plan.hasVideo || options.format.isVideoWanted
    case .m4a, .ogg: false
    }
  }

  /// Makes the file.
  package func run(_ progress: @escaping (CompositionProgress) -> Void) throws(ComposerFailure) -> CompositionOutcome {
    let folder = try PartsFolder(
      beside: output, plan: CompositionFingerprint.bytes(plan, options), isForced: options.isForced)
    do throws(ComposerFailure) {
      return try compose(into: folder, progress)
    } catch {
      folder.removeUnlessUsed()
      throw error
    }
  }

  private func compose(
    into folder: PartsFolder, _ progress: @escaping (CompositionProgress) -> Void
  ) throws(ComposerFailure) -> CompositionOutcome {
    let scanner = SoundScanner(plan, measuresLoudness: options.isLevelled) { MediaWorker(.foreground, hasTime: true) }
    var video = RenderedVideo()
    if hasVideo { video = try render(into: folder, scanner, progress) }
    let scan = try settled(scanner, to: .max, progress)
    let mix = try OutputAssembly.write(
      plan: plan, options: options, output: output, parts: folder, count: video.parts, videoTrack: video.track,
      scan: scan
    ) { time in
      progress(CompositionProgress(done: time, duration: plan.duration, stage: .finishing))
    }
    folder.remove()
    return CompositionOutcome(
      frames: video.frames, parts: video.parts, resumedParts: video.resumedParts, scan: scan, mix: mix,
      tiles: video.tiles, problems: video.problems)
  }

  // MARK: Video

  private struct RenderedVideo {
    var frames: Int64 = 0
    var parts = 0
    var resumedParts = 0
    var track: ContainerSettings.Track?
    var tiles: [CompositionOutcome.Tile] = []
    var problems: [String] = []
  }

  private func settings() throws(ComposerFailure) -> CompositionEncoderSettings {
    guard let codec = TrackCodec(name: options.format.video.rawValue) else {
      throw .usage("\(options.format.video.rawValue) is not encoded.")
    }
    let settings = CompositionEncoderSettings(
      codec: codec, width: options.size.width, height: options.size.height, numerator: Int(options.rate.numerator),
      denominator: Int(options.rate.denominator), quality: options.quality.value,
      maximumBitrate: options.maximumBitrate,
      keyframeDistance: Int(max(1, options.rate.firstFrame(at: Self.keyframeInterval))))
    guard let settings else {
      throw .usage("The size, the rate or the bit rate of the output is not within the limits.")
    }
    return settings
  }

  private func render(
    into folder: PartsFolder, _ scanner: SoundScanner, _ progress: @escaping (CompositionProgress) -> Void
  ) throws(ComposerFailure) -> RenderedVideo {
    let settings = try settings()
    var video = RenderedVideo()
    video.frames = options.rate.firstFrame(at: plan.duration)
    video.parts = Int((plan.duration + Self.partLength - 1) / Self.partLength)
    // The rest of the duration can be shorter than a frame.
    while video.parts > 0, options.rate.firstFrame(at: Int64(video.parts - 1) * Self.partLength) >= video.frames {
      video.parts -= 1
    }
    video.track = try Self.asking { () throws(MediaWorkerError) in try CompositionEncoder(settings).track }
    do throws(TextDrawingError) {
      _ = try TextDrawer()
    } catch {
      video.problems.append("The names are not drawn: \(error).")
    }
    var renderer: FrameRenderer?
    var tiles = plan.tiles.map { _ in CompositionOutcome.Tile.none }
    func add(_ notes: PartNotes) {
      for (index, tile) in notes.tiles.enumerated() { tiles[index].add(tile) }
    }
    var kept: Int64 = 0
    for part in 0..<video.parts {
      let path = folder.part(part)
      if let notes = PartReader.notes(ofWhole: path).flatMap({ PartNotes($0, tiles: tiles.count) }) {
        add(notes)
        video.resumedParts += 1
        kept += Self.partLength
        continue
      }
      let start = options.rate.firstFrame(at: Int64(part) * Self.partLength)
      let end = min(video.frames, options.rate.firstFrame(at: Int64(part + 1) * Self.partLength))
      let scan = try settled(scanner, to: Int64(part + 1) * Self.partLength) { _ in }
      if renderer?.next != start { renderer = FrameRenderer(plan, options, from: start) }
      var tries = 0
      while let current = renderer {
        tries += 1
        let before = current.tiles
        do {
          let writer = try PartWriter(path) {
            progress(
              CompositionProgress(
                done: Int64(part) * Self.partLength, duration: plan.duration, stage: .diskFull, kept: kept))
          }
          let encoder = try CompositionEncoder(settings)
          try current.render(to: end, scan, with: encoder) { (packet) throws(ComposerFailure) in
            try writer.write(packet)
          } progress: { frame in
            progress(
              CompositionProgress(
                done: min(plan.duration, options.rate.time(ofFrame: frame)), duration: plan.duration, stage: .rendering,
                kept: kept))
          }
          let notes = PartNotes(
            tiles: zip(current.tiles, before).map { $0.since($1, at: options.rate.time(ofFrame: start)) })
          try writer.complete(notes.bytes)
          add(notes)
          break
        } catch {
          renderer = nil
          if let failure = error as? ComposerFailure { throw failure }
          guard case .ended? = error as? MediaWorkerError, tries < Self.maximumTries else {
            throw Self.failure(error as? MediaWorkerError)
          }
          renderer = FrameRenderer(plan, options, from: start)
        }
      }
    }
    video.tiles = tiles
    return video
  }

  /// Decodes sound until it is known who speaks up to a time.
  private func settled(
    _ scanner: SoundScanner, to end: Int64, _ progress: (CompositionProgress) -> Void
  ) throws(ComposerFailure) -> SoundScan {
    while !scanner.isAtEnd {
      if let failure = scanner.failure { throw failure }
      if scanner.time >= end {
        let found = scanner.found
        if found.settled >= end { return found }
      }
      scanner.advance()
      progress(CompositionProgress(done: scanner.time, duration: plan.duration, stage: .scanning))
    }
    return scanner.found
  }

  // MARK: Failures

  static func asking<Result>(
    _ body: () throws(MediaWorkerError) -> Result
  ) throws(ComposerFailure) -> Result {
    do throws(MediaWorkerError) { return try body() } catch { throw failure(error) }
  }

  static func failure(_ error: MediaWorkerError?) -> ComposerFailure {
    switch error {
    case .unavailable(let reason): .worker(reason.hasSuffix(".") ? reason : "\(reason).")
    case .ended(let reason): .worker("The process that encodes \(reason).")
    case .refused(let reason): .worker("The process that encodes refuses: \(reason).")
    case nil: .worker("Composing failed.")
    }
  }
}
