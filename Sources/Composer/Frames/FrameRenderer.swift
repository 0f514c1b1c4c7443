internal import Composition
internal import FileSource
internal import Media
internal import MediaMessages
internal import MediaWorker
internal import TextDrawing

/// Makes the frames of the output one after the other, from any frame on.
final class FrameRenderer {
  private let plan: CompositionPlan
  private let options: CompositionOptions
  private let streams: [StreamFrames]
  private let canvas: Canvas
  private let painter: TilePainter
  /// Files and manifests round the times of frames and of recordings to milliseconds each. Without regard to that, a third of the frames
  /// of a user whose frames are as regular as those of the output would not be shown, and others twice.
  private static let precision = Int64(MediaTimebase.rate / 1_000)
  /// Of how many tiles all may have a worker that decodes, also while they are not shown.
  private static let maximumDecoding = 32
  /// The frame that is made next.
  private(set) var next: Int64

  init(_ plan: CompositionPlan, _ options: CompositionOptions, from frame: Int64) {
    self.plan = plan
    self.options = options
    next = frame
    let keepsDecoding = plan.tiles.count <= Self.maximumDecoding
    let start = frame == 0 ? Int64.min : options.rate.time(ofFrame: frame)
    streams = plan.tiles.map { StreamFrames($0, keepsDecoding: keepsDecoding, countsFrom: start) }
    canvas = Canvas(options.size)
    painter = TilePainter(canvas: canvas, fit: options.fit, text: try? TextDrawer())
  }

  /// Encodes frames up to `end`.
  ///
  /// - Parameters:
  ///   - scan: settled up to the end.
  ///   - write: takes the packets in the order of decoding.
  ///   - progress: called after each frame with the frames that are done.
  func render(
    to end: Int64, _ scan: SoundScan, with encoder: CompositionEncoder,
    _ write: (EncodedPacket) throws(ComposerFailure) -> Void, progress: (Int64) -> Void
  ) throws {
    let schedule = plan.schedule(
      of: options.layout, size: options.size, speech: scan.spans, speakers: scan.changes, rate: options.rate)
    var cursor = LayoutCursor(schedule)
    var speech = SpeechCursor(scan.spans, users: plan.users.count, rate: options.rate)
    while next < end {
      let time = options.rate.time(ofFrame: next)
      paint(cursor.placements(at: next), at: time, isSpeaking: speech.speaking(at: next))
      if let failure = streams.lazy.compactMap(\.failure).first { throw failure }
      for packet in try encoder.encode(frame: next, { self.canvas.copy(into: $0) }) { try write(packet) }
      next += 1
      progress(next)
    }
    for packet in try encoder.finish() { try write(packet) }
  }

  private func paint(_ placements: [TilePlacement], at time: Int64, isSpeaking: [Bool]) {
    var isShown = [Bool](repeating: false, count: streams.count)
    for placement in placements where isShown.indices.contains(placement.tile) { isShown[placement.tile] = true }
    for (stream, isShown) in zip(streams, isShown) { stream.advance(to: time + Self.precision, isShown: isShown) }
    let tiles = placements.compactMap { placement -> PaintedTile? in
      guard plan.tiles.indices.contains(placement.tile) else { return nil }
      let tile = plan.tiles[placement.tile]
      let picture = streams[placement.tile].picture
      return PaintedTile(
        placement: placement, look: tile.spans.look(at: time),
        frame: picture.image.map { TileFrame(image: $0, version: picture.number) },
        name: options.hasNames ? tile.label : nil, label: tile.label,
        id: plan.users[tile.user].ids.first ?? UntrustedText(tile.label), isSpeaking: isSpeaking[tile.user])
    }
    let clock =
      options.hasClock ? ClockText.text(secondsSince1970: Double(plan.start) / 1_000 + Self.seconds(time)) : nil
    _ = painter.paint(tiles, clock: clock)
  }

  private static func seconds(_ time: Int64) -> Double { Double(time) / Double(MediaTimebase.rate) }

  /// What happened so far, for each tile.
  var tiles: [CompositionOutcome.Tile] {
    streams.map {
      CompositionOutcome.Tile(
        decodedFrames: $0.decodedFrames, undecodedFrames: $0.undecodedFrames, crashes: $0.allCrashes,
        losses: $0.allLosses, problems: $0.problems)
    }
  }
}

/// Who speaks in each frame of the output.
struct SpeechCursor {
  private var spans: ArraySlice<(user: Int, frames: Range<Int64>)>
  private var active: [(user: Int, end: Int64)] = []
  private var isSpeaking: [Bool]

  init(_ spans: [SpeechSpan], users: Int, rate: FrameRate) {
    self.spans =
      spans.compactMap { span in
        let (start, end) = (rate.firstFrame(at: span.start), rate.firstFrame(at: span.end))
        return start < end && (0..<users).contains(span.user) ? (span.user, start..<end) : nil
      }.sorted { $0.frames.lowerBound < $1.frames.lowerBound }[...]
    isSpeaking = [Bool](repeating: false, count: users)
  }

  /// Returns whether each user speaks. The frames of the calls ascend.
  mutating func speaking(at frame: Int64) -> [Bool] {
    for span in active where span.end <= frame { isSpeaking[span.user] = false }
    active.removeAll { $0.end <= frame }
    while let span = spans.first, span.frames.lowerBound <= frame {
      spans.removeFirst()
      if span.frames.upperBound > frame {
        active.append((span.user, span.frames.upperBound))
        isSpeaking[span.user] = true
      }
    }
    return isSpeaking
  }
}
