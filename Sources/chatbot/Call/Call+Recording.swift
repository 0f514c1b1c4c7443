import Logging
import Recorder

/// What is recorded.
extension Call {
  func openRecorder() throws(CallFailure) -> Recorder? {
    guard let folder = plan.record else { return nil }
    var configuration = Recorder.Configuration(folder: folder, room: plan.reach.roomName)
    configuration.verifies = plan.verifies
    configuration.segment = plan.segment
    do {
      let recorder = try Recorder(configuration)
      tellUnfinished(in: folder)
      return recorder
    } catch {
      throw CallFailure(.disk, error.description)
    }
  }

  /// Says how to mend what an earlier program left unfinished.
  private func tellUnfinished(in folder: String) {
    let unfinished = Recorder.unfinished(in: folder)
    guard let first = unfinished.first else { return }
    let what = unfinished.count == 1 ? "The recording \(first)" : "\(unfinished.count) recordings"
    let verb = unfinished.count == 1 ? "was" : "were"
    log.warning(
      "\(what) in this folder \(verb) never finished; chatbot repair mends that", metadata: ["folder": "\(folder)"])
  }

  /// Notes each recording that is closed, until the recorder is done.
  func followSummaries(_ parts: Parts) async {
    guard let recorder = parts.recorder else { return }
    for await summary in recorder.summaries { parts.roster.recorded(summary) }
  }

  /// Tells what goes wrong with a recording, until the recorder is done.
  func followProblems(_ parts: Parts) async {
    guard let recorder = parts.recorder else { return }
    for await problem in recorder.problems {
      let user: Logger.Metadata = ["user": "\(problem.participant)"]
      switch problem.kind {
      case .stalled: log.warning("\(problem)", metadata: user)
      case .resumed: log.notice("\(problem)", metadata: user)
      case .lost, .overloaded:
        log.error("\(problem)", metadata: user)
        parts.roster.recordingFailed(CallFailure(problem.kind == .lost ? .disk : .overloaded, problem.sentence))
      }
    }
  }
}
