import ArgumentParser
import BotPeer
import Call
import CallCheck
import FaultInjection
import Foundation
import LiveSource
import Logging
import Media
import NetworkEmulation
import OptionValues
import Testing

@testable import chatbot

@Suite("the options of a check")
struct CheckOptionsTests {
  private func rejection(_ arguments: String...) -> String? {
    do {
      _ = try CheckOptions.parse(arguments)
      return nil
    } catch {
      return CheckOptions.message(for: error)
    }
  }

  @Test("by default a check sends the pattern, waits for one peer and uses the default rules")
  func defaults() throws {
    let options = try CheckOptions.parse([])
    let settings = try options.settings()
    #expect(settings.camera?.input == .pattern)
    #expect(settings.server.address == ServerSettings.defaultAddress)
    #expect(!settings.mayStartServer && !settings.call.media.endsWithSource)
    #expect(settings.call.peer.network == nil && settings.call.peer.interceptors.isEmpty)
    #expect(options.peers == 1)
    #expect(options.wait.milliseconds == 30_000)
    #expect(options.span.milliseconds == 20_000)
    #expect(try options.rules.rules().given.isEmpty)
    #expect(try options.rules.rules().includesDefaults)
    #expect(options.rules.expectation(peers: 2) == CheckExpectation(peers: 2))
  }

  @Test("rules, impairment and fault are parsed before anything begins")
  func understood() throws {
    let options = try CheckOptions.parse([
      "--expect", "video.fps >= 24", "--expect", "peers == 2", "--impair", "send: loss=5%", "--seed", "7", "--fault",
      "second-offer", "--content", "returned", "--no-audio",
    ])
    #expect(try options.rules.rules().given.map(\.text) == ["video.fps >= 24", "peers == 2"])
    #expect(try options.impairment()?.description == "send: loss=5%")
    #expect(try options.impairment()?.seed == 7)
    #expect(options.peerFault == .secondOffer)
    let peer = try options.settings().call.peer
    #expect(peer.network != nil && peer.interceptors.count == 1)
    #expect(options.rules.expectation(peers: 1) == CheckExpectation(audio: false, pattern: .returned))
  }

  @Test("--peers is a rule beside the given ones, unless one of them is about peers")
  func peers() throws {
    func rules(_ arguments: String...) throws -> [String] {
      try CheckOptions.parse(arguments).allRules().given.map(\.text)
    }
    #expect(try rules("--peers", "2") == [])
    #expect(try rules("--peers", "2", "--expect", "loss <= 2%") == ["loss <= 2%", "peers >= 2"])
    #expect(try rules("--peers", "2", "--expect", "peers == 3") == ["peers == 3"])
  }

  @Test("given rules replace the default rules, unless one of them is “default”")
  func besides() throws {
    #expect(try !CheckOptions.parse(["--expect", "loss <= 2%"]).allRules().includesDefaults)
    let both = try CheckOptions.parse(["--expect", "loss <= 2%", "--expect", "default", "--peers", "2"]).allRules()
    #expect(both.includesDefaults)
    #expect(both.given.map(\.text) == ["loss <= 2%"])
    let help = CheckOptions.helpMessage(columns: 300)
    #expect(help.contains("unless one of them is “default”"))
  }

  @Test("the camera performs the size change, not the peer")
  func sizeChange() throws {
    let options = try CheckOptions.parse(["--fault", "size-change"])
    #expect(options.peerFault == nil)
    let settings = try options.settings()
    #expect(settings.call.peer.interceptors.isEmpty)
    #expect(settings.camera?.sizeChange == .seconds(2))
  }

  @Test(
    "a fault that ends calls is counted by them, one of the peer by its injections, and one of the input is not counted"
  )
  func faultCounts() {
    let checkObserver = CheckObserver(
      .init(wait: .seconds(1), span: .seconds(1)), on: MediaThread.loop, log: Logger(label: "test"))
    checkObserver.received(.ended(CloseReason(.closedByUs, "It ended.")), of: ParticipantID("a"), at: .now)
    #expect(checkObserver.injectionCount(of: .suddenLeave) == 1)
    #expect(checkObserver.injectionCount(of: .ssrcChange) == 0)
    #expect(checkObserver.injectionCount(of: .sizeChange) == nil)
  }

  @Test("a wrong value is rejected with a sentence that names the nearest correct one")
  func refused() {
    #expect(rejection("--expect", "video.fsp >= 3")?.contains("video.fps") == true)
    #expect(rejection("--expect", "video.firstFrame <= 2")?.contains("2s") == true)
    #expect(rejection("--impair", "los=5%")?.contains("loss") == true)
    #expect(rejection("--fault", "nonsense")?.contains("second-offer") == true)
    #expect(rejection("--for", "100ms")?.contains("at least 1s") == true)
    #expect(rejection("--self", "--room", "x")?.contains("--self uses") == true)
    #expect(rejection("--peers", "0")?.contains("1 to 100") == true)
    #expect(rejection("--no-audio", "--no-video")?.contains("nothing to judge") == true)
    #expect(rejection("--json", "a", "--html", "a")?.contains("one file") == true)
    #expect(rejection("--json", "a", "--html", "./a")?.contains("one file") == true)
    #expect(rejection("--seed", "7")?.contains("needs --impair") == true)
    #expect(rejection("--self", "--content", "returned")?.contains("returns nothing") == true)
    for arguments in [["--expect-file", "/nowhere/rules.yml"], ["--baseline", "/nowhere/old.json"]] {
      let options = try? CheckOptions.parse(arguments)
      #expect(throws: ValidationError.self) {
        _ = try options?.rules.rules()
        _ = try options?.rules.baselineReport()
      }
    }
  }

  @Test("rules are also read from a file, and an error in it is reported with its line number")
  func rulesFile() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString).yml")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("expect:\n  - loss <= 2%\n".utf8).write(to: file)
    let options = try CheckOptions.parse(["--expect", "peers == 1", "--expect-file", file.path])
    #expect(try options.rules.rules().given.map(\.text) == ["peers == 1", "loss <= 2%"])
    try Data("expect:\n  - loss <= 2%\n  - nonsense\n".utf8).write(to: file)
    let error = #expect(throws: ValidationError.self) {
      try CheckOptions.parse(["--expect-file", file.path]).rules.rules()
    }
    #expect(error?.message.contains("Line 3") == true)
  }

  @Test("a file of rules that cannot be read is refused with the reason")
  func unreadable() throws {
    func rejection(_ path: String) throws -> String? {
      let options = try CheckOptions.parse(["--expect-file", path])
      return #expect(throws: ValidationError.self) { try options.rules.rules() }?.message
    }
    #expect(try rejection("/nowhere/rules.yml") == "/nowhere/rules.yml cannot be read: no such file or directory.")
    #expect(try rejection("/tmp") == "/tmp cannot be read: is a directory.")
    #expect(try rejection("/dev/zero")?.hasPrefix("/dev/zero cannot be read: it has more than ") == true)
  }

  @Test("peers are ignored, or judged alone, by id or name")
  func chosen() throws {
    let options = try CheckOptions.parse(["--ignore", "recorder", "--ignore", "a b", "--only=--x"])
    #expect(options.ignore == ["recorder", "a b"] && options.only == ["--x"])
    let judging = options.judging(start: .now, room: "100")
    #expect(judging.ignored == ["recorder", "a b"] && judging.only == ["--x"])
    #expect(rejection("--ignore", "") == "--ignore needs the id or the name of a peer.")
    #expect(rejection("--only", "a", "--only", "") == "--only needs the id or the name of a peer.")
    #expect(rejection("--only", "a", "--ignore", "a") == "“a” cannot be in both --only and --ignore.")
    #expect(rejection("--self", "--only", "a") == "--self has exactly one peer; omit --only.")
    let many = (1...101).flatMap { ["--ignore", "\($0)"] }
    let error = #expect(throws: (any Error).self) { try CheckOptions.parse(many) }
    let message = error.map { CheckOptions.message(for: $0) }
    #expect(message == "--ignore may be given at most 100 times, not 101.")
    #expect(try CheckOptions.parse(Array(many.dropLast(2))).ignore.count == 100)
  }

  @Test("a negative number is rejected with the valid range and not treated as an option")
  func belowZero() {
    #expect(rejection("--peers", "-1") == "--peers is 1 to 100, not -1.")
    for option in ["--for", "--wait"] {
      #expect(rejection(option, "-1")?.contains("A duration must not be negative, but this is -1.") == true)
    }
    #expect(
      chatbotTests.rejection(of: InspectCommand.self, "a.webm", "--peers", "-1") == "--peers is 1 to 100, not -1.")
    let duration = chatbotTests.rejection(of: CallOptions.self, "--record", "o", "--duration", "-1s")
    #expect(duration?.contains("A duration must not be negative, but this is -1s.") == true)
    let publishers = chatbotTests.rejection(of: LoadOptions.self, "--play", "pattern", "--publishers", "-1")
    #expect(publishers == "--publishers is 0 to \(LoadOptions.maximumParticipants), not -1.")
  }

  @Test("an error that is found only when the command runs is reported with the command's usage")
  func usage() async throws {
    let screen = try Screen()
    let code = await #expect(throws: ExitCode.self) {
      try await UsageErrors.reported(for: CheckCommand.self, on: screen.console()) { throw ValidationError("So not.") }
    }
    #expect(code == ExitStatus.usage.exitCode)
    let lines = screen.errors.split(separator: "\n")
    #expect(lines.first == "Error: So not.")
    #expect(lines.dropFirst().first?.hasPrefix("Usage: chatbot check ") == true)
    #expect(lines.last == "  See 'chatbot check --help' for more information.")
  }

  @Test("every fault is listed with what a good app does")
  func faults() {
    for fault in Fault.allCases { #expect(Fault.list.contains("\(fault.rawValue)\n    \(fault.title)")) }
    #expect(Measurement.list.contains("video.freeze.longest"))
  }
}
