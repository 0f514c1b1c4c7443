internal import Media
public import Recorder
internal import Room
internal import RoomMessages

extension RoomCall {
  /// Why a call ended.
  public enum EndReason: Sendable, Hashable, CustomStringConvertible {
    /// The program made the call leave; a clause.
    case left(String)
    /// The duration of the settings has passed.
    case timeIsUp
    /// The source ended or failed.
    case sourceEnded
    case signallingEnded
    /// The signalling ended the call for good; a clause or sentence.
    case signallingClosed(String)
    /// The observer has all it needs; a clause.
    case observerFinished(String)
    /// The server refused the join; the server's own words.
    case notAdmitted(String)
    /// The server rejects what we were asked to do; one sentence.
    case rejected(String)
    /// Somebody was there, and then nobody for this time: ``Settings/leaveWhenEmpty``.
    case roomEmpty(Duration)
    /// Nobody came in this time since we joined: ``Settings/leaveIfNobody``.
    case nobodyCame(Duration)

    init(_ reason: RoomEndReason) {
      self =
        switch reason {
        case .left: .signallingEnded
        case .notAdmitted(let reason): .notAdmitted(reason)
        case .rejected(let reason): .rejected(reason)
        case .closed(let reason): .signallingClosed(reason)
        }
    }

    /// Whether the server did not let us do what we were asked to, or is lost for good.
    public var isFailure: Bool {
      switch self {
      case .notAdmitted, .rejected, .signallingClosed: true
      case .left, .timeIsUp, .sourceEnded, .signallingEnded, .observerFinished, .roomEmpty, .nobodyCame: false
      }
    }

    /// The reason as a clause or sentence, for a log.
    public var description: String {
      switch self {
      case .timeIsUp: "the duration has passed"
      case .sourceEnded: "the input ended"
      case .signallingEnded: "the connection to the server was closed"
      case .left(let reason), .observerFinished(let reason), .signallingClosed(let reason), .rejected(let reason):
        reason
      case .notAdmitted(let reason): "the server refused the join: \(reason)"
      case .roomEmpty(let time): "everybody left, and nobody came for \(Self.text(time))"
      case .nobodyCame(let time): "nobody came within \(Self.text(time))"
      }
    }

    private static func text(_ time: Duration) -> String {
      let tenths = DisplayText.tenths(time.seconds)
      return "\(tenths.hasSuffix(".0") ? String(tenths.dropLast(2)) : tenths) s"
    }
  }

  /// What a call leaves behind.
  public struct Outcome: Sendable {
    public var endReason: EndReason
    /// Whether any user was ever connected.
    public var hasConnected: Bool
    /// The newest recordings, about a thousand at most, in the order in which they ended.
    public var recordings: [RecordingSummary]
    /// The number of recordings that ended before the first of ``recordings``.
    public var recordingsForgotten: Int
    /// The first problem because of which something is missing in recordings; one with a disk precedes any other.
    public var recordingProblem: RoomRecorder.Problem?
    /// Why the source ended early; one sentence.
    public var sourceFailure: String?
    /// Why the call ended, who was there, and who was recorded.
    public var summary: SessionSummary
    /// The file of the summary beside the recordings; nil if nothing was to be recorded, or if it could not be written.
    public var summaryFile: String?
    /// Why that file could not be written; one sentence.
    public var summaryProblem: String?
  }

  /// Why the files of a call cannot be used. The description is one sentence.
  public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Cause: Sendable, Hashable {
      /// A file that is to be offered cannot be read.
      case unreadable
      /// The folder of recordings or of received files cannot be created or written.
      case unwritable
      /// The files of users and the recordings would be in one folder.
      case sharedFolder
    }

    public let cause: Cause
    public let description: String

    init(_ cause: Cause, _ sentence: String) {
      self.cause = cause
      description = sentence
    }

    init(_ error: FileTransferError) {
      cause =
        switch error.cause {
        case .unreadable: .unreadable
        case .unwritable: .unwritable
        case .sharedFolder: .sharedFolder
        }
      description = error.description
    }

    init(_ error: RoomRecorder.StorageError) {
      cause = .unwritable
      description = error.description
    }
  }
}

extension RoomCall.Outcome {
  /// Says what is missing in the recordings of a call that was to be recorded.
  ///
  /// - Parameter required: What must have been recorded; if it is empty, anything.
  /// - Returns: A sentence; nil if nothing is missing.
  package func missingRecordings(of required: [SessionRequirement]) -> String? {
    if !required.isEmpty { return summary.missing(of: required) }
    if recordingsForgotten > 0 || recordings.contains(where: { !$0.manifest.tracks.isEmpty }) { return nil }
    return recordings.isEmpty
      ? "Nothing was recorded, because no user sent media."
      : "Nothing was recorded, because no user sent media that can be recorded."
  }
}
