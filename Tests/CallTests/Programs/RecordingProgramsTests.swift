import Call
import Foundation
import Logging
import Media
import Recorder
import Testing

@Suite("programs that run for recordings")
final class RecordingProgramsTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("programs-\(UUID().uuidString)")
    .path
  private let recorder = LogRecorder()

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

  private func programs(_ script: String) -> RecordingPrograms {
    var plan = RoomCall.Settings.Programs()
    plan.onFinish = ["/bin/sh", "-c", script, "sh"]
    var log = recorder.logger
    log.logLevel = .notice
    return RecordingPrograms(plan, room: "1", log: log)
  }

  private func recording(_ number: Int) -> RecordingSummary {
    var manifest = RecordingManifest(room: "1", user: "u\(number)", name: nil, start: "")
    manifest.finished = true
    manifest.files = [.init(name: "u.ogg", kind: "ogg", start: 0, duration: 1, bytes: 1, complete: true)]
    return RecordingSummary(
      participant: ParticipantID("u\(number)"), folder: folder, base: "u\(number)", manifest: manifest,
      storageError: nil)
  }

  @Test("each recording has its run, also those that had to wait, and the end waits for all of them")
  func all() async throws {
    let programs = programs(#"sleep 0.2; test "$1" = "$CHATBOT_MANIFEST" && : > "$CHATBOT_MANIFEST.$CHATBOT_USER""#)
    for number in 0..<9 { programs.finished(recording(number)) }
    await programs.finish(until: .now + .seconds(30))
    #expect(names == (0..<9).map { "u\($0).json.u\($0)" })
    #expect(!recorder.lines.contains { $0.hasPrefix("program failed") })
  }

  @Test("a failure and the standard error are in the log; the standard output is not read, and the input is empty")
  func failure() async throws {
    let programs = programs("cat; yes | head -c 300000; echo 'no such bucket' >&2; exit 3")
    programs.finished(recording(0))
    await programs.finish(until: .now + .seconds(30))
    #expect(recorder.lines.contains { $0.hasPrefix("sh: no such bucket") }, "\(recorder.lines)")
    #expect(recorder.lines.contains { $0.hasPrefix("program failed") && $0.contains("exit code 3") })
  }

  @Test("a program that lasts longer is named and left to itself, and what waits is not started")
  func patience() async throws {
    let programs = programs(#"sleep 2; : > "$1.late""#)
    for number in 0..<5 { programs.finished(recording(number)) }
    await programs.finish(until: .now + .milliseconds(200))
    let lines = recorder.lines
    #expect(lines.count { $0.hasPrefix("program still runs") } == 4)
    #expect(lines.contains { $0.hasPrefix("programs were not started") && $0.contains("count=1") })
    programs.stopWaiting()
    await programs.finish(until: .now + .seconds(30))
    #expect(names.isEmpty)
  }

  @Test("a program that does not exist is an error in the log")
  func missing() async {
    var plan = RoomCall.Settings.Programs()
    plan.onFinish = ["/no/such/program"]
    let programs = RecordingPrograms(plan, room: "1", log: recorder.logger)
    programs.finished(recording(0))
    await programs.finish(until: .now + .seconds(30))
    #expect(recorder.lines.contains { $0.hasPrefix("program not started") && $0.contains("/no/such/program") })
  }
}
