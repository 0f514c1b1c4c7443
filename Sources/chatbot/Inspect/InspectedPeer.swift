import CallCheck
import FileSource
import Media
import Recorder

/// A recording that is open and ready to be judged as a peer.
struct InspectedPeer {
  let id: ParticipantID
  let recording: FoundRecording
  /// Video and audio, as far as there are any.
  let tracks: [RecordedTrack]
  /// When its time zero was, in milliseconds since 1970; nil when nobody wrote it down.
  let began: Int64?
  /// Its place on the inspection's time line, in units of `FileTime.rate`.
  var offset: Int64 = 0

  var manifest: RecordingManifest? { recording.manifest?.content }

  /// Where it ends on its own time line, in units, as far as is known before it was read.
  var estimatedEnd: Int64 { tracks.map(\.estimatedEnd).max() ?? 0 }

  /// The media files as a report lists them: those to be watched first.
  var paths: [String] {
    recording.files.map(\.path).sorted { one, other in
      let isFilm = (one.hasSuffix(".webm"), other.hasSuffix(".webm"))
      return isFilm.0 != isFilm.1 ? isFilm.0 : one < other
    }
  }

  /// How it ended.
  var departure: (cause: PeerReport.Departure.Cause, sentence: String) {
    guard let manifest else { return (.closedByUs, "The file ends here.") }
    return switch manifest.left {
    case .left: (.left, "The user left the room.")
    case .connectionLost: (.connectionLost, "Nothing came from the user any more.")
    case .failed: (.failed, "The call with the user could not continue.")
    case .stopped: (.closedByUs, "The recording was stopped.")
    case nil: (.closedByUs, "The recording was never finished.")
    }
  }
}
