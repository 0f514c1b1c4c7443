import Call
import Composition
import Console
import Recorder

/// The composition of `call --compose`, after the call. Its failure is a sentence and changes no exit code.
struct CallComposition {
  let output: String
  let console: Console

  /// Checks before the call that the name of the file says what is written.
  init(output: String, console: Console) throws {
    (self.output, self.console) = (output, console)
    _ = try Composing.options(CompositionArguments(inputs: ["."], output: output))
  }

  /// Composes what the call recorded.
  func run(_ outcome: RoomCall.Outcome, folder: String) async {
    // Of a very long call the first recordings are not listed any more.
    let manifests = outcome.recordings.compactMap(\.paths.last)
    let inputs = outcome.recordingsForgotten > 0 ? [folder] : manifests
    guard !inputs.isEmpty else { return console.say("\(output) is not composed, because nothing was recorded.") }
    do {
      let options = try Composing.options(CompositionArguments(inputs: inputs, output: output))
      try await Composing(options: options, console: console).run()
    } catch {
      console.report("\(output) is not composed. \(error)")
    }
  }
}
