import Codecs
import Media

/// What becomes of a participant's frames before they reach a file: the gate (only what can be decoded), the check (decode
/// it), the timeline (place it) and the counts for the manifest.
final class FrameIntake {
  private var gate = VideoGate()
  private var refusedPackets: UInt64 = 0
  private let check: FrameCheck?
  private var timeline: Timeline
  private var tallies: [MediaKind: TrackTally] = [:]
  private var statistics: [MediaKind: TrackStatistics] = [:]
  /// When the first frame of each track was decoded.
  private var firstDecoded: [MediaKind: ContinuousClock.Instant] = [:]

  /// When the first frame came that can be recorded; nil before.
  private(set) var firstArrival: ContinuousClock.Instant?
  /// The first picture's size; nil while there is none.
  private(set) var firstSize: PictureSize?

  init(hold: Duration, verifies: Bool) {
    check = verifies ? FrameCheck() : nil
    timeline = Timeline(hold: hold)
  }

  /// Takes what the participant's media brought.
  func receive(_ event: MediaEvent, now: ContinuousClock.Instant) {
    switch event {
    case .frame(let frame): take(frame, now: now)
    case .clock(let report): timeline.add(report)
    case .statistics(let kind, let counts): statistics[kind] = counts
    }
  }

  /// Gives the frames whose places are settled, in order of position and within a track in decoding order.
  ///
  /// - Parameter everything: whether nothing may stay behind, as at the end.
  func release(now: ContinuousClock.Instant, everything: Bool = false) -> [PlacedFrame] {
    let placed = timeline.release(now: now, everything: everything)
    for frame in placed { count(frame) }
    return placed
  }

  private func take(_ frame: EncodedFrame, now: ContinuousClock.Instant) {
    var frame = frame
    switch frame.codec {
    case .vp8:
      guard let admitted = gate.admit(frame) else { return }
      frame = admitted
      firstSize = firstSize ?? frame.size
    case .opus:
      guard (try? OpusPacketShape(parsing: frame.payload)) != nil else {
        refusedPackets += 1
        return
      }
    }
    if check?.examine(frame) == true {
      firstDecoded[frame.codec.kind] = firstDecoded[frame.codec.kind] ?? now
    }
    firstArrival = firstArrival ?? frame.arrival
    timeline.add(frame, now: now)
  }

  private func count(_ placed: PlacedFrame) {
    let codec = placed.frame.codec
    var tally = tallies[codec.kind] ?? TrackTally(codec: codec)
    switch codec {
    case .vp8: tally.count(placed, length: nil)
    case .opus:
      guard let shape = try? OpusPacketShape(parsing: placed.frame.payload) else { return }
      tally.count(placed, channels: shape.channels, ticks: shape.duration)
    }
    tallies[codec.kind] = tally
  }
}

/// What is known so far.
extension FrameIntake {
  /// When position zero would have arrived with the least delay seen; nil until the first frames are placed.
  var origin: ContinuousClock.Instant? { timeline.origin }
  /// The tracks that were there when the first frames were placed.
  var firstTracks: Set<MediaKind> { timeline.firstTracks }
  /// From the first frame to the end of the last one whose place is settled.
  var duration: Duration { tallies.values.map(\.end).max() ?? .zero }
  /// Frames whose places are settled, by track.
  var frames: [MediaKind: UInt64] { tallies.mapValues(\.track.frames) }
  /// Frames that did not decode; nil when nothing is verified.
  var decodeErrors: UInt64? { check.map { $0.audioErrors + $0.videoErrors } }

  /// How the tracks were aligned, for the manifest.
  var alignment: RecordingManifest.Alignment {
    var entry = RecordingManifest.Alignment()
    entry.source = timeline.alignment.source.rawValue
    entry.error = timeline.alignment.error.roundedSeconds
    entry.correction = timeline.alignment.correction.roundedSeconds
    entry.reports = timeline.alignment.reports
    return entry
  }

  /// The tracks' entries for the manifest.
  func tracks(clock: WallClock) -> [RecordingManifest.Track] {
    MediaKind.allCases.compactMap { track($0, clock: clock) }
  }

  private func track(_ kind: MediaKind, clock: WallClock) -> RecordingManifest.Track? {
    guard var track = tallies[kind]?.track else { return nil }
    track.timestampBreaks = timeline.breaks(of: kind)
    track.refused = kind == .video ? gate.refused : refusedPackets
    track.decodeErrors = check.map { kind == .video ? $0.videoErrors : $0.audioErrors }
    track.firstDecoded = firstDecoded[kind].map(clock.text)
    if kind == .video, let check, let size = check.lastSize {
      track.lastDecodedSize = .init(time: track.start + track.duration, width: size.width, height: size.height)
    }
    if let counts = statistics[kind] { track.take(counts) }
    return track
  }
}
