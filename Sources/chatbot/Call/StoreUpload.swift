import Call
import Console
import Logging

/// The upload of `--store`, for a command.
struct StoreUpload {
  private let upload: RecordingUpload
  private let console: Console

  /// Starts the upload of a recording, if there is one, before the room is joined.
  static func begin(_ options: CallOptions, console: Console, log: Logger) async throws -> StoreUpload? {
    guard let folder = options.record, let store = options.store else { return nil }
    do {
      return StoreUpload(
        upload: try await RecordingUpload.begin(folder: folder, store: store, log: log), console: console)
    } catch {
      throw CallFailure(error.isUsage ? .usage : .notStored, error.description)
    }
  }

  /// Waits until all is stored, and says where, or what is wrong.
  func finish() async -> CallFailure? {
    console.say("Storing the rest of the recording. A signal ends the wait; then the upload goes on alone.")
    do {
      if let line = try await upload.finish() { console.result(line, isWanted: true) }
      return nil
    } catch {
      console.report(error.description)
      return CallFailure(.notStored, error.description)
    }
  }
}
