import Foundation
import TestSupport
import Testing

/// The built program in real calls with real browsers, one scenario after another.
///
/// Each scenario leaves its recordings and logs in `end-to-end/` beside the built program.
@Suite("end to end", .serialized, .realTime) enum EndToEnd {}

/// What the machine can do for these tests. Where CI is set nothing is left out: what is missing fails.
enum Machine {
  static let isCI = ProcessInfo.processInfo.environment["CI"] != nil

  static let hasChromium = has("Chromium", "chromium") && has("Chromium", "chromium-headless-shell")

  static let hasFirefox = has("Firefox", "firefox-esr") && canIsolate

  /// Whether a network namespace can be made, without which Firefox does not call its own machine.
  private static let canIsolate: Bool = {
    let probe = Process()
    probe.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    probe.arguments = ["unshare", "--net", "true"]
    probe.standardError = FileHandle.nullDevice
    try? probe.run()
    probe.waitUntilExit()
    if probe.terminationStatus != 0 {
      announce("SKIPPED: no network namespace can be made here, so no test with Firefox runs. `make test` can.")
    }
    return probe.terminationStatus == 0 || isCI
  }()

  private static func has(_ name: String, _ command: String) -> Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let isThere = folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(command)") }
    if !isThere { announce("SKIPPED: \(name) is not installed, so no test with it runs. `make test` installs it.") }
    return isThere || isCI
  }

  private static func announce(_ sentence: String) {
    let line = String(repeating: "!", count: sentence.count)
    print("\n\(line)\n\(sentence)\n\(line)\n")
  }
}
