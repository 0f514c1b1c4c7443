import CallCheck
import FileSource
import Media
import Recorder

/// An open recording, ready to be judged as a stream of a peer. The recordings of a participant's streams have the same id.
struct InspectedRecording: Sendable {
  let id: ParticipantID
  let recording: FoundRecording
  /// Which stream of the participant it is.
  let stream: MediaStream
  /// The video and audio tracks that exist.
  let tracks: [RecordedTrack]
  /// The time of its zero, in milliseconds since 1970; nil if unknown.
  let began: Int64?
  /// Its offset on the inspection's timeline, in units of `MediaTimebase.rate`.
  var offset: Int64 = 0

  var manifest: RecordingManifest? { recording.manifest?.content }

  /// The process that recorded it, and when in that process it begins, in milliseconds; nil if that is not known.
  var session: InspectionLayout.Session? {
    guard let session = manifest?.session, let units = RecordedTime.units(session.offset) else { return nil }
    return .init(id: session.id, offset: units / Int64(MediaTimebase.rate / 1_000))
  }

  /// The end on its own timeline in units of `MediaTimebase.rate`, as estimated before the recording is read.
  var estimatedEnd: Int64 { tracks.map(\.estimatedEnd).max() ?? 0 }

  /// The media files as a report lists them: first those with video, which have both tracks.
  var paths: [String] {
    recording.files.map(\.path).sorted { one, other in
      let haveVideo = (RecordedName.hasVideo(one), RecordedName.hasVideo(other))
      return haveVideo.0 != haveVideo.1 ? haveVideo.0 : one < other
    }
  }

  /// Whether it has a manifest that does not say how it ended: the recorder was killed, or still records.
  var wasInterrupted: Bool { manifest.map { $0.endReason == nil } ?? false }

  /// How the recording ended.
  var departure: (cause: PeerReport.Departure.Cause, sentence: String) {
    guard let manifest else { return (.closedByUs, "The file ends here.") }
    return switch manifest.endReason {
    case .left: (.left, "The user left the room.")
    case .connectionLost: (.connectionLost, "The connection to the user was lost.")
    case .failed: (.failed, "The call with the user could not continue.")
    case .stopped: (.closedByUs, "The recording was stopped.")
    case nil: (.closedByUs, "The recording was never finished.")
    }
  }
}

extension [InspectedRecording] {
  /// The indices of the recordings of each participant: of the participants in the order of their first recordings, and of
  /// their streams in the order of the numbers.
  var participants: [[Int]] {
    var positions: [ParticipantID: Int] = [:]
    var participants: [[Int]] = []
    for index in indices {
      if let position = positions[self[index].id] {
        participants[position].append(index)
      } else {
        positions[self[index].id] = participants.count
        participants.append([index])
      }
    }
    return participants.map { streams in streams.sorted { self[$0].stream.number < self[$1].stream.number } }
  }
}
