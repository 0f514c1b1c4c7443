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
    let programs = programs(#"sleep 0.2; test "$1" = "$RECORDING_MANIFEST" && : > "$1.$RECORDING_USER""#)
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

  @Test("the end of a long standard error is in the reason of the failure")
  func longDiagnostics() async throws {
    let programs = programs("yes 0123456789 | head -c 149996 >&2; echo 'fatal: no such bucket' >&2; exit 3")
    programs.finished(recording(0))
    await programs.finish(until: .now + .seconds(30))
    let failure = try #require(recorder.lines.first { $0.hasPrefix("program failed") })
    #expect(failure.contains("fatal: no such bucket"))
  }

  /// Waits until a file of the folder exists.
  private func appears(_ name: String) async throws -> Bool {
    for _ in 0..<3_000 where !names.contains(name) { try await Task.sleep(for: .milliseconds(10)) }
    return names.contains(name)
  }

  /// A part of a script that waits until the test creates the file.
  private func wait(for name: String) -> String { "while ! test -e '\(folder)/\(name)'; do sleep 0.02; done" }

  private func create(_ name: String) { _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil) }

  @Test("what a program leaves in the background runs on, and its end is not waited for")
  func background() async throws {
    let programs = programs(#"(\#(wait(for: "go")); : > "$1.later") & : > "$1.now""#)
    programs.finished(recording(0))
    await programs.finish(until: .now + .seconds(30))
    #expect(names == ["u0.json.now"])
    create("go")
    #expect(try await appears("u0.json.later"))
    #expect(!recorder.lines.contains { $0.hasPrefix("program failed") || $0.hasPrefix("program still runs") })
  }

  @Test("a program that lasts longer is named and continues without supervision, and what waits is not started")
  func patience() async throws {
    let programs = programs(#"\#(wait(for: "go")); : > "$1.late""#)
    for number in 0..<5 { programs.finished(recording(number)) }
    await programs.finish(until: .now)
    let lines = recorder.lines
    #expect(lines.count { $0.hasPrefix("program still runs and continues without supervision") } == 4)
    #expect(lines.contains { $0.hasPrefix("programs were not started") && $0.contains("count=1") })
    programs.stopWaiting()
    await programs.finish(until: .now + .seconds(30))
    #expect(names.isEmpty)
    create("go")
    for number in 0..<4 { #expect(try await appears("u\(number).json.late")) }
    await programs.finish(until: .now + .seconds(30))
    #expect(!names.contains("u4.json.late"))
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
