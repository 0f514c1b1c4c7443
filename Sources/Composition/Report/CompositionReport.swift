package import Media

/// What was composed, and what happened, as JSON for programs. Times are seconds from the composition's zero, rounded to milliseconds.
package struct CompositionReport: Sendable, Hashable, Codable {
  package static let currentVersion = 1

  package var version = currentVersion
  package var output: Output
  package var room: UntrustedText
  /// The wall clock at the composition's zero, as ISO 8601.
  package var start: String
  package var duration: Double
  package var users: [User]
  package var tiles: [Tile]
  package var recordings: [Recording]
  /// From which frame on tiles are where; at most 10,000 changes.
  package var layout: [Change]
  package var speech: [Speech]
  package var speakers: [Speaker]
  /// Nil without audio, and for a plan that is not composed.
  package var audio: Audio?
  package var chapters: [Chapter]
  /// How many messages of chat there are.
  package var messages: Int
  /// Video that could not be read or decoded.
  package var losses: [Loss]
  /// What is missing or odd, a sentence each.
  package var problems: [String]

  package struct Output: Sendable, Hashable, Codable {
    package var path: String
    package var container: CompositionContainer
    /// Nil for audio alone.
    package var videoCodec: OutputVideoCodec?
    /// Nil without audio.
    package var audioCodec: OutputAudioCodec?
    package var width: Int
    package var height: Int
    /// As a fraction where it is one.
    package var fps: String
    package var frames: Int64
  }

  package struct User: Sendable, Hashable, Codable {
    package var ids: [UntrustedText]
    package var name: UntrustedText?
    /// What is drawn.
    package var label: String
    package var presence: [Span]
    /// The largest sample in dBFS; nil for silence.
    package var peak: Double?
    /// In LUFS; nil if it was not measured.
    package var loudness: Double?
    /// By which the audio was changed, in dB.
    package var gain: Double?
    package var undecodedPackets: Int?
  }

  package struct Span: Sendable, Hashable, Codable {
    package var start: Double
    package var end: Double
  }

  /// A tile; in other places tiles are given by their index.
  package struct Tile: Sendable, Hashable, Codable {
    /// The index of the user.
    package var user: Int
    package var stream: Int
    package var screen: Bool
    package var label: String
    package var spans: [TileSpan]
  }

  package struct TileSpan: Sendable, Hashable, Codable {
    package var start: Double
    package var end: Double
    package var state: State
    /// Why there are no frames; nil where there are.
    package var reason: String?

    package enum State: String, Sendable, Hashable, Codable {
      case absent
      case frames
      /// The name is shown.
      case name
      /// The last frame is shown.
      case held
    }
  }

  package struct Recording: Sendable, Hashable, Codable {
    package var manifest: String
    /// The index of the user.
    package var user: Int
    package var stream: Int
    /// The recording's time zero.
    package var offset: Double
    /// By what it was aligned with the first one.
    package var alignment: RecordingAlignment.Source
    /// The largest error of that; nil where it is not known.
    package var error: Double?
    /// The largest error of its audio against its video; nil where it has one of them only, and where there is none.
    package var internalError: Double?
  }

  package struct Change: Sendable, Hashable, Codable {
    package var frame: Int64
    package var places: [Place]
  }

  package struct Place: Sendable, Hashable, Codable {
    package var tile: Int
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int
  }

  package struct Speech: Sendable, Hashable, Codable {
    package var user: Int
    package var start: Double
    package var end: Double
  }

  package struct Speaker: Sendable, Hashable, Codable {
    package var user: Int
    package var time: Double
  }

  package struct Audio: Sendable, Hashable, Codable {
    /// The largest sample in dBFS; nil for silence.
    package var peak: Double?
    /// The greatest reduction by the limiter, in dB.
    package var greatestReduction: Double
  }

  package struct Chapter: Sendable, Hashable, Codable {
    package var start: Double
    package var title: String
  }

  /// Frames of a tile that are missing because they could not be read or decoded.
  package struct Loss: Sendable, Hashable, Codable {
    package var tile: Int
    package var start: Double
    /// The time of the next frame that was decoded; nil if there is none.
    package var end: Double?
    package var cause: Cause

    package enum Cause: String, Sendable, Hashable, Codable {
      case undecodable
      case decoderCrashed
      /// The file could not be read there.
      case damagedFile
    }

    /// - Parameters:
    ///   - start: in units of `MediaTimebase.rate`.
    ///   - end: in the same units; nil where no later frame was decoded.
    package init(tile: Int, start: Int64, end: Int64?, cause: Cause) {
      self.tile = tile
      self.start = CompositionReport.seconds(start)
      self.end = end.map(CompositionReport.seconds)
      self.cause = cause
    }
  }
}
