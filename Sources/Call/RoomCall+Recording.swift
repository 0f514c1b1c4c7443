internal import BotPeer
internal import Logging
internal import Media
internal import NIOCore
public import Recorder
internal import RoomMessages
internal import Synchronization

/// Recording of a call.
extension RoomCall {
  /// The state of each recording while it grows, in the order of the users' ids and of their streams; empty without recording.
  public func recordingStatus() -> [RecordingStatus] { recorder?.status() ?? [] }

  static func openRecorder(
    _ settings: Settings, threads: Int, observer: (any RoomCallObserver)?
  ) throws(FileError) -> RecorderGroup? {
    guard let recording = settings.recording else { return nil }
    var frameRecorded: (@Sendable (EncodedFrame) -> Void)?
    if let observer { frameRecorded = { observer.recorded($0) } }
    do {
      return try RecorderGroup(recording, threads: threads, frameRecorded: frameRecorded)
    } catch {
      throw FileError(error)
    }
  }

  /// Opens the writer of chat beside the recordings.
  static func openChat(
    _ settings: Settings, _ recorder: RecorderGroup?, _ participants: ParticipantRegistry, on loop: any EventLoop,
    log: Logger
  ) throws(FileError) -> ChatRecorder? {
    guard let recorder, let folder = settings.recording?.folder else { return nil }
    do {
      return try ChatRecorder(
        folder, recorder: recorder, ownID: { participants.ownID?.text ?? "" }, on: loop, log: log)
    } catch {
      throw FileError(error)
    }
  }

  /// Registers each closed recording until the recorders finish.
  func registerRecordings() async {
    await withTaskGroup(of: Void.self) { group in
      for recorder in recorder?.recorders ?? [] {
        group.addTask {
          for await summary in recorder.summaries {
            await self.chat?.finish(summary)
            self.participants.recorded(summary)
            self.sessionLog.withLock { $0.recorded(summary) }
            self.observer?.recorded(summary)
            self.programs.finished(summary)
          }
        }
      }
    }
  }

  /// Runs the program for each finished file until the recorders finish.
  func registerSegments() async {
    await withTaskGroup(of: Void.self) { group in
      for recorder in recorder?.recorders ?? [] {
        group.addTask {
          for await segment in recorder.segments {
            self.observer?.finished(segment)
            self.programs.finished(segment)
          }
        }
      }
    }
  }

  /// Logs problems with recordings until the recorders finish.
  func logProblems() async {
    await withTaskGroup(of: Void.self) { group in
      for recorder in recorder?.recorders ?? [] {
        group.addTask { for await problem in recorder.problems { self.received(problem) } }
      }
    }
  }

  /// Writes the summary beside the recordings. It blocks, but only when the call is over.
  func writeSummary(_ outcome: inout Outcome) {
    guard let folder = settings.recording?.folder else { return }
    do {
      outcome.summaryFile = try SessionFile.write(outcome.summary, into: folder)
    } catch {
      outcome.summaryProblem = "The summary of the call cannot be written: \(error)"
      log.error("the summary of the call cannot be written", metadata: ["reason": "\(error)"])
    }
  }

  private func received(_ problem: RoomRecorder.Problem) {
    observer?.received(problem)
    let user: Logger.Metadata = ["user": "\(problem.participant)"]
    switch problem.kind {
    case .stalled, .notRecorded, .segmentsLeftOut, .notVerified: log.warning("\(problem)", metadata: user)
    case .resumed, .verifiedInProcess: log.notice("\(problem)", metadata: user)
    case .lost, .overloaded, .memoryFull:
      log.error("\(problem)", metadata: user)
      participants.recordingFailed(problem)
    }
  }
}

/// What a call has recorded so far.
package struct RecordingProgress: Sendable, Hashable {
  /// Bytes written, of all users.
  package var bytes: Int64
  /// Bytes that are free where the folder is; nil if that is not known.
  package var freeBytes: Int64?
  /// Whether the disk accepts nothing for a recording at the moment.
  package var isStalled: Bool
  /// Whether nothing is recorded of the users who are there, because they are paused.
  package var isPaused = false
}

extension RecordingManifest.NetworkPath {
  /// The manifest's description of a candidate pair.
  init(_ types: CandidateTypes) {
    self.init(
      localCandidateType: types.local, remoteCandidateType: types.remote, protocol: types.transport,
      relayed: types.isRelayed)
  }
}

extension RecordingEndReason {
  /// The manifest's reason for the end of a connection.
  init(_ cause: CloseReason.Cause) {
    switch cause {
    case .closedByParticipant: self = .left
    case .connectionLost: self = .connectionLost
    case .failed: self = .failed
    case .closedByUs: self = .stopped
    }
  }
}
