import BotPeer
import Logging
import Media
import Recorder
import RoomMessages

/// Recording of a call.
extension Call {
  func openRecorder() throws(CallFailure) -> RecorderGroup? {
    guard let folder = plan.record else { return nil }
    var configuration = RoomRecorder.Configuration(folder: folder, room: plan.connectionSettings.roomName)
    configuration.verifies = plan.verifies
    configuration.segment = plan.segment
    configuration.memoryLimit = plan.queueMemory
    do {
      let recorder = try RecorderGroup(configuration, threads: plan.connectionSettings.mediaThreads ?? 1)
      reportUnfinished(in: folder)
      return recorder
    } catch {
      throw CallFailure(.disk, error.description)
    }
  }

  /// Opens the writer of chat beside the recordings.
  func openChat(
    recorder: RecorderGroup?, participantRegistry: ParticipantRegistry
  ) throws(CallFailure) -> ChatRecorder? {
    guard let recorder, let folder = plan.record else { return nil }
    do {
      return try ChatRecorder(
        folder, recorder: recorder, ownID: { participantRegistry.ownID?.text ?? "" }, on: MediaThread.loop, log: log)
    } catch {
      throw CallFailure(error)
    }
  }

  /// Logs which recordings an earlier run left unfinished, and how to repair them.
  private func reportUnfinished(in folder: String) {
    let unfinished = RoomRecorder.unfinished(in: folder)
    guard let first = unfinished.first else { return }
    let what = unfinished.count == 1 ? "The recording \(first)" : "\(unfinished.count) recordings"
    let verb = unfinished.count == 1 ? "was" : "were"
    log.warning(
      "\(what) in this folder \(verb) never finished; run chatbot repair", metadata: ["folder": "\(folder)"])
  }

  /// Registers each closed recording until the recorders finish.
  func registerRecordings(_ parts: Parts, chat: ChatRecorder?) async {
    await withTaskGroup(of: Void.self) { group in
      for recorder in parts.recorder?.recorders ?? [] {
        group.addTask {
          for await summary in recorder.summaries {
            await chat?.finish(summary)
            parts.participantRegistry.recorded(summary)
          }
        }
      }
    }
  }

  /// Logs problems with recordings until the recorders finish.
  func logProblems(_ parts: Parts) async {
    await withTaskGroup(of: Void.self) { group in
      for recorder in parts.recorder?.recorders ?? [] {
        group.addTask { for await problem in recorder.problems { logProblem(problem, parts) } }
      }
    }
  }

  private func logProblem(_ problem: RoomRecorder.Problem, _ parts: Parts) {
    let user: Logger.Metadata = ["user": "\(problem.participant)"]
    switch problem.kind {
    case .stalled, .notRecorded: log.warning("\(problem)", metadata: user)
    case .resumed: log.notice("\(problem)", metadata: user)
    case .lost, .overloaded, .memoryFull:
      log.error("\(problem)", metadata: user)
      parts.participantRegistry.recordingFailed(
        CallFailure(problem.kind == .lost ? .disk : .overloaded, problem.sentence))
    }
  }
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
