internal import FileSource
internal import Inspection
internal import Media
internal import Recorder

/// The times of a manifest, which anybody may have written: checked, in units of `MediaTimebase.rate` from the recording's start.
struct ManifestTimes: Sendable, Hashable {
  /// The wall clock at the recording's start, in milliseconds since 1970.
  let start: Int64
  /// The process that recorded, and milliseconds from its beginning to the recording's start.
  let session: InspectionLayout.Session?
  /// The end of the last frame of any track, or of what arrived then and could not be recorded.
  let end: Int64
  let video: Track?
  let audio: Track?
  /// The largest error of audio against video.
  let error: Int64

  /// A track that has frames.
  struct Track: Sendable, Hashable {
    var start: Int64
    /// The end of the last frame.
    var end: Int64
    /// In order of their starts; they may overlap.
    var gaps: [Gap]
  }

  struct Gap: Sendable, Hashable {
    var start: Int64
    var end: Int64
    var reason: MediaGap.Reason
    /// How much of it was repaired, from its start on.
    var repaired: Int64
  }

  /// A time that no recording has.
  struct ImpossibleTime: Error, Sendable, Hashable {
    /// The field of the manifest, as `tracks[0].gaps[2].start`.
    var field: String
    /// What is wrong with it, as a clause that follows the field.
    var clause: String
  }

  /// How far files of one kind may overlap, and tracks may exceed the recording: 60 s. While a codec changes, one file has the video up to its next
  /// keyframe and the next file has the audio already.
  private static let overlap = 60 * Int64(MediaTimebase.rate)
  /// The times from the beginning of a process to a recording that can be, in seconds: up to 10 years, and up to a day less than zero,
  /// since a program that uses the library may give the recorder events of before.
  private static let sessionOffsets: ClosedRange<Double> = -86_400...3.2e8

  init(_ manifest: RecordingManifest) throws(ImpossibleTime) {
    guard let start = RecordedClock.milliseconds(manifest.start) else {
      throw ImpossibleTime(
        field: "start", clause: "is \"\(manifest.start.printable(utf8Bytes: 40))\", which is not a time")
    }
    self.start = start
    session = try Self.session(manifest)
    let duration = try Self.time(manifest.duration, "duration")
    error = try Self.time(manifest.alignment.error, "alignment.error")
    try Self.check(manifest.files)
    var tracks: [String: Track] = [:]
    for (index, track) in manifest.tracks.enumerated() {
      let times = try Track(track, named: "tracks[\(index)]")
      if track.frames > 0 || times.end > times.start { tracks[track.kind] = times }
    }
    video = tracks[MediaKind.video.rawValue]
    audio = tracks[MediaKind.audio.rawValue]
    let gaps = [video, audio].compactMap(\.self).flatMap(\.gaps).filter(\.reason.isOfRecorder)
    end = max(duration, video?.end ?? 0, audio?.end ?? 0, gaps.map(\.end).max() ?? 0)
  }

  /// Converts a manifest's seconds.
  fileprivate static func time(_ seconds: Double, _ field: @autoclosure () -> String) throws(ImpossibleTime) -> Int64 {
    guard seconds.isFinite else { throw ImpossibleTime(field: field(), clause: "is not a number") }
    // A time that is rounded may be below zero by a millisecond.
    guard seconds > -0.002 else {
      throw ImpossibleTime(field: field(), clause: "is \(shown(seconds)), which is negative")
    }
    guard let units = RecordedTime.units(seconds) else {
      throw ImpossibleTime(
        field: field(), clause: "is \(shown(seconds)) s, and no recording is longer than \(MediaTimebase.latestHours) h"
      )
    }
    return max(0, units)
  }

  private static func shown(_ seconds: Double) -> String {
    abs(seconds) < 1e15 && seconds == seconds.rounded() ? "\(Int64(seconds))" : "\(seconds)"
  }

  private static func session(_ manifest: RecordingManifest) throws(ImpossibleTime) -> InspectionLayout.Session? {
    guard let session = manifest.session else { return nil }
    guard session.offset.isFinite, sessionOffsets.contains(session.offset) else {
      throw ImpossibleTime(
        field: "session.offset", clause: "is \(shown(session.offset)) s, which no process can have")
    }
    return .init(id: session.id, offset: Int64((session.offset * 1_000).rounded()))
  }

  private static func check(_ files: [RecordingManifest.File]) throws(ImpossibleTime) {
    var times: [(index: Int, hasVideo: Bool, start: Int64, end: Int64)] = []
    for (index, file) in files.enumerated() {
      let start = try time(file.start, "files[\(index)].start")
      let end = start + (try time(file.duration, "files[\(index)].duration"))
      times.append((index, file.hasVideo, start, end))
    }
    for hasVideo in [true, false] {
      let kind = times.filter { $0.hasVideo == hasVideo }.sorted { ($0.start, $0.index) < ($1.start, $1.index) }
      // The end of all files before.
      var end: (time: Int64, index: Int)?
      for file in kind {
        if let end, min(end.time, file.end) - file.start > overlap {
          throw ImpossibleTime(
            field: "files[\(file.index)].start",
            clause: "is \(shown(RecordedTime.seconds(file.start))), when files[\(end.index)] has not ended")
        }
        if file.end > end?.time ?? .min { end = (file.end, file.index) }
      }
    }
  }
}

extension ManifestTimes.Track {
  fileprivate init(_ track: RecordingManifest.Track, named field: String) throws(ManifestTimes.ImpossibleTime) {
    start = try ManifestTimes.time(track.start, "\(field).start")
    end = start + (try ManifestTimes.time(track.duration, "\(field).duration"))
    gaps = []
    for (index, gap) in track.gaps.enumerated() {
      let start = try ManifestTimes.time(gap.start, "\(field).gaps[\(index)].start")
      let length = try ManifestTimes.time(gap.duration, "\(field).gaps[\(index)].duration")
      let repaired = try ManifestTimes.time(gap.repaired ?? 0, "\(field).gaps[\(index)].repaired")
      // A reason of a later version of the program is one of missing frames.
      let reason = MediaGap.Reason(rawValue: gap.reason) ?? .lost
      if length > 0 {
        gaps.append(.init(start: start, end: start + length, reason: reason, repaired: min(repaired, length)))
      }
    }
    gaps.sort { ($0.start, $0.end) < ($1.start, $1.end) }
  }
}
