import Glibc
import RecordedCalls

/// Writes the recordings of a synthetic call, for `scripts/bench-compose.sh`.
///
/// Usage: record-call NAME FOLDER [SECONDS]
@main
struct RecordCall {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2, let scenario = arguments.first.flatMap({ RecordedCall.scenarios[$0] }),
      let folder = arguments.dropFirst().first
    else {
      print("usage: record-call NAME FOLDER [SECONDS]\nnames: \(RecordedCall.scenarios.keys.sorted())")
      exit(64)
    }
    do {
      try await scenario(arguments.dropFirst(2).first.flatMap(Double.init) ?? 60).record(into: folder)
    } catch {
      print("record-call: \(error)")
      exit(1)
    }
  }
}
