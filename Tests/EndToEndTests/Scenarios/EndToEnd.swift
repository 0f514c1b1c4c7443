import Foundation
import TestSupport
import Testing

/// Runs the built program in real calls with real browsers, one scenario after another.
///
/// Each scenario leaves its recordings and logs in `end-to-end/` next to the built program.
@Suite("end to end", .serialized, .realTime) enum EndToEnd {}

/// Runs the built program in calls with itself, one scenario after another, at the same time as those with browsers,
/// which it hardly slows down.
@Suite("end to end without browsers", .serialized, .realTime) enum EndToEndWithoutBrowsers {}

/// Runs the built program in scenarios that mostly wait: for the end of a lease, a time-out, a store that is away. Those of different
/// suites run at the same time, beside all others; each suite is serialized.
@Suite("end to end, mostly waiting", .realTime) enum EndToEndWaiting {}

/// The abilities of the machine. If CI is set, nothing is skipped: missing programs fail the tests.
enum Machine {
  static let isCI = ProcessInfo.processInfo.environment["CI"] != nil

  static let hasChromium = has("Chromium", "chromium") && has("Chromium", "chromium-headless-shell")

  static let hasFirefox = has("Firefox", "firefox-esr") && canIsolate

  /// The command prefix that prevents a browser from raising its own priority. Chromium does that only as root, and
  /// would take the processors from the program under test and from the stall meter.
  static let atNormalPriority: [String] = {
    let prefix = ["setpriv", "--bounding-set", "-sys_nice"]
    return getuid() == 0 && succeeds(prefix + ["true"]) ? prefix : []
  }()

  /// Whether a network namespace can be created, without which Firefox cannot call its own machine.
  static let canIsolate: Bool = {
    if succeeds(["unshare", "--net", "true"]) { return true }
    announce("SKIPPED: no network namespace can be created here, so no test with Firefox runs. `make test` can.")
    return isCI
  }()

  private static func succeeds(_ command: [String]) -> Bool {
    let probe = Process()
    probe.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    probe.arguments = command
    probe.standardOutput = FileHandle.nullDevice
    probe.standardError = FileHandle.nullDevice
    guard (try? probe.run()) != nil else { return false }
    probe.waitUntilExit()
    return probe.terminationStatus == 0
  }

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
