import FoundationEssentials
import Glibc
import Media
import Recorder
import Synchronization

/// Runs the same call each time, in memory and in simulated time, for a program that counts instructions: four publishers
/// send 1 Mb/s of video and audio each to one peer, which records them. There is no loss, no clock and no socket.
///
/// Usage: call-instructions [SECONDS [DATAGRAMS [CODEC]]]
///
/// - SECONDS of media; with 0 the peers only connect
/// - DATAGRAMS of strangers, which the recording peer drops: media, handshakes, checks and responses for nobody, and noise
/// - CODEC of the video: vp8 (the default), h264, h265 or av1. The frames of each codec have the same sizes.
///
/// Prints the number of RTP packets that the recording peer received, and the number of frames in the recordings.
@main
struct CallInstructions {
  private struct UnknownCodec: Error, CustomStringConvertible {
    var description: String { "The codec must be vp8, h264, h265 or av1." }
  }

  static func main() {
    // An asynchronous `main` would give up the first thread, which Valgrind does not survive.
    let outcome = Monitor<Result<(packets: Int, frames: Int), any Error>?>(nil)
    Task.detached {
      do {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let numbers = arguments.prefix(2).map { Int($0) ?? 0 }
        guard let codec = Codec(rawValue: arguments.dropFirst(2).first ?? "vp8"), let video = SyntheticVideo(codec)
        else { throw UnknownCodec() }
        let result = try await run(
          seconds: numbers.first ?? 5, strangers: numbers.dropFirst().first ?? 0, video: video)
        outcome.withLock { $0 = .success(result) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
    }
    switch outcome.wait(for: { $0 }) {
    case .success(let result): print(result.packets, result.frames)
    case .failure(let error):
      print("call-instructions: \(error)")
      exit(1)
    case nil: exit(1)
    }
  }

  private static func run(
    seconds: Int, strangers: Int, video: SyntheticVideo
  ) async throws -> (packets: Int, frames: Int) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "chatbot-instructions.\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "instructions")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let room = MemoryRoom(publishers: 4, video: video, recorder: try RoomRecorder(configuration))
    try room.connect()
    try await room.play(for: .seconds(seconds))
    try room.flood(strangers)
    let recordings = await room.recorder.finish(now: room.now.instant)
    return (room.packetsReceived, recordings.flatMap(\.manifest.tracks).reduce(0) { $0 + Int($1.frames) })
  }
}
