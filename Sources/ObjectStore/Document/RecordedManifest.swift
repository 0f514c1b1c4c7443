internal import FoundationEssentials
internal import JSON
internal import Media

/// What a store needs of the manifest of one recording: see docs/recordings.md. It comes from the folder of a job, which may have
/// anything, so no value of it is trusted.
package struct RecordedManifest: Sendable, Hashable, Codable {
  package struct File: Sendable, Hashable, Codable {
    package var name: String
    package var kind: String
    /// Milliseconds from the manifest's start.
    package var start: Int64
    /// Milliseconds.
    package var duration: Int64
    package var complete: Bool
    package var segment: Int64?

    package init(name: String, kind: String, start: Int64, duration: Int64, complete: Bool, segment: Int64?) {
      self.name = name
      self.kind = kind
      self.start = start
      self.duration = duration
      self.complete = complete
      self.segment = segment
    }
  }

  package struct Track: Sendable, Hashable, Codable {
    /// `audio` or `video`.
    package var kind: String
    /// Milliseconds from the manifest's start.
    package var start: Int64
    package var duration: Int64
    /// The gaps with the reason `paused`.
    package var pauses: [Pause]

    package init(kind: String, start: Int64, duration: Int64, pauses: [Pause] = []) {
      self.kind = kind
      self.start = start
      self.duration = duration
      self.pauses = pauses
    }
  }

  package struct Pause: Sendable, Hashable, Codable {
    /// Milliseconds from the manifest's start.
    package var start: Int64
    package var duration: Int64

    package init(start: Int64, duration: Int64) {
      self.start = start
      self.duration = duration
    }
  }

  package var user: String
  package var name: String?
  /// Nil if the manifest does not say it.
  package var room: String?
  package var stream: Int64
  /// Milliseconds since 1970.
  package var start: Int64
  package var finished: Bool
  /// Whether the recording ended in order; false if its process was lost.
  package var hasEndReason: Bool
  package var files: [File]
  package var tracks: [Track]

  package init(
    user: String, name: String? = nil, stream: Int64 = 1, start: Int64, finished: Bool = true,
    hasEndReason: Bool = true,
    files: [File] = [], tracks: [Track] = []
  ) {
    self.user = user
    self.name = name
    self.stream = stream
    self.start = start
    self.finished = finished
    self.hasEndReason = hasEndReason
    self.files = files
    self.tracks = tracks
  }

  /// The most bytes of a manifest.
  package static let maximumBytes = 16 << 20
  /// The most bytes of a user's id or name that are kept.
  private static let maximumTextBytes = 1_024

  /// Parses the text of a manifest; nil if it is none.
  package init?(parsing json: [UInt8]) {
    let limits = JSONLimits(bytes: Self.maximumBytes, values: 1_000_000, depth: 8)
    guard let text = try? JSONReader.decode(ManifestText.self, from: Data(json), within: limits),
      (1...2).contains(text.version), let start = UTCTime(text.start.string.prefix(utf8Bytes: 40))
    else { return nil }
    user = text.user.string.prefix(utf8Bytes: Self.maximumTextBytes)
    name = text.name?.string.prefix(utf8Bytes: Self.maximumTextBytes)
    room = text.room?.string.prefix(utf8Bytes: Self.maximumTextBytes)
    stream = Int64(min(max(text.stream?.number ?? 1, 1), 1_000))
    self.start = start.milliseconds
    finished = text.finished
    hasEndReason = text.endReason != nil || text.left != nil
    files = text.files.map { file in
      File(
        name: file.name.string, kind: file.kind.string.prefix(utf8Bytes: 16), start: Self.milliseconds(file.start),
        duration: Self.milliseconds(file.duration), complete: file.complete, segment: file.segment.map(Int64.init))
    }
    tracks = text.tracks.compactMap { track in
      guard let kind = track.kind.ascii, kind == "audio" || kind == "video" else { return nil }
      let pauses = (track.gaps ?? []).filter { $0.reason.ascii == "paused" }.map { gap in
        Pause(start: Self.milliseconds(gap.start), duration: Self.milliseconds(gap.duration))
      }
      return Track(
        kind: kind, start: Self.milliseconds(track.start), duration: Self.milliseconds(track.duration), pauses: pauses)
    }
  }

  /// Returns seconds as milliseconds, between zero and ten years.
  private static func milliseconds(_ seconds: Double) -> Int64 {
    guard seconds.isFinite else { return 0 }
    return Int64((min(max(seconds, 0), 315_360_000) * 1_000).rounded())
  }
}

/// The fields of a manifest that are read, of the versions 1 and 2.
private struct ManifestText: Decodable {
  struct Stream: Decodable {
    var number: Int
  }

  struct File: Decodable {
    var name: UntrustedText
    var kind: UntrustedText
    var start: Double
    var duration: Double
    var complete: Bool
    var segment: Int?
  }

  struct Track: Decodable {
    var kind: UntrustedText
    var start: Double
    var duration: Double
    var gaps: [Gap]?
  }

  struct Gap: Decodable {
    var reason: UntrustedText
    var start: Double
    var duration: Double
  }

  var version: Int
  var finished: Bool
  var user: UntrustedText
  var name: UntrustedText?
  var room: UntrustedText?
  var stream: Stream?
  var start: UntrustedText
  var endReason: UntrustedText?
  var left: UntrustedText?
  var files: [File]
  var tracks: [Track]
}
