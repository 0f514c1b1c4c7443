import Composition
import FileSource
import Inspection
import Media
import Recorder
import Testing

/// A recording of a call for tests, without files. Times are seconds.
struct RecordingFixture {
  var user: String
  var name: String?
  var room = "100"
  var stream = 1
  var content: String?
  /// From the start of the call.
  var start = 0.0
  var duration = 60.0
  /// From the start of the recording; nil for no video.
  var video: Span? = Span()
  var audio: Span? = Span()
  var session: String? = "one"
  /// By how much the wall clock was wrong.
  var clockError = 0.0
  var isFinished = true

  /// A track; its end is that of the recording where it is not given.
  struct Span {
    var start = 0.0
    var end: Double?
    var gaps: [Gap] = []
  }

  struct Gap {
    var reason: MediaGap.Reason
    var start: Double
    var end: Double
    var repaired: Double?
  }

  init(_ user: String, name: String? = nil) {
    self.user = user
    self.name = name
  }

  /// Changes it.
  func with(_ change: (inout Self) -> Void) -> Self {
    var changed = self
    change(&changed)
    return changed
  }

  /// 2026-03-01T09:30:00.250Z, in milliseconds since 1970.
  static let zero: Int64 = 1_772_357_400_250

  var manifest: RecordingManifest {
    var manifest = RecordingManifest(
      room: room, user: user, name: name,
      start: RecordedClock.text(Self.zero + Int64(((start + clockError) * 1_000).rounded())))
    manifest.stream = .init(number: stream, content: content)
    manifest.session = session.map { .init(id: $0, offset: 1_000 + start) }
    manifest.duration = duration
    manifest.finished = isFinished
    manifest.endReason = isFinished ? .left : nil
    let base = stream == 1 ? user : "\(user).\(stream)"
    if video != nil {
      manifest.files.append(
        .init(name: "\(base).webm", kind: "webm", start: 0, duration: duration, bytes: 1_000, complete: true))
    }
    if audio != nil {
      manifest.files.append(
        .init(name: "\(base).ogg", kind: "ogg", start: 0, duration: duration, bytes: 1_000, complete: true))
    }
    for (codec, span) in [(Codec.vp8, video), (Codec.opus, audio)] {
      guard let span else { continue }
      var track = RecordingManifest.Track(codec: codec)
      track.start = span.start
      track.duration = (span.end ?? duration) - span.start
      track.frames = 100
      track.gaps = span.gaps.map {
        .init(
          reason: $0.reason.rawValue, start: $0.start, duration: $0.end - $0.start, packets: 1, frames: 0,
          repaired: $0.repaired)
      }
      manifest.tracks.append(track)
    }
    return manifest
  }

  var recording: FoundRecording { Self.recording(manifest, in: "out") }

  static func recording(_ manifest: RecordingManifest, in folder: String) -> FoundRecording {
    let base = manifest.stream.number == 1 ? manifest.user : "\(manifest.user).\(manifest.stream.number)"
    return FoundRecording(
      manifest: .init(path: "\(folder)/\(base).json", content: manifest),
      files: manifest.files.map { RecordedFile(path: "\(folder)/\($0.name)", entry: $0, segment: $0.segment) })
  }
}

/// Units of `MediaTimebase.rate` of a time in seconds.
func units(_ seconds: Double) -> Int64 { Int64((seconds * 1_000).rounded()) * Int64(MediaTimebase.rate / 1_000) }

func units(_ range: ClosedRange<Double>) -> Range<Int64> { units(range.lowerBound)..<units(range.upperBound) }

func span(_ start: Double, _ end: Double, _ state: PictureState) -> PictureSpan {
  PictureSpan(start: units(start), end: units(end), state: state)
}

/// Plans the composition of the only call of these recordings.
func plan(
  _ recordings: RecordingFixture..., chat: [String: [RecordedChat.Message]] = [:],
  options change: (inout CompositionOptions) -> Void = { _ in }
) throws -> CompositionPlan {
  let calls = try CallList(of: recordings.map(\.recording))
  var options = CompositionOptions(
    inputs: ["out"], output: "meeting.mp4", format: .init(container: .mp4, video: .h264, audio: .aac))
  change(&options)
  let call = try #require(try calls.selected(by: options).first)
  return try CompositionPlan(of: call, options: options) { recording in
    chat[recording.manifest?.content.user ?? ""] ?? []
  }
}
