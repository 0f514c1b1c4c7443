import ArgumentParser
import Call
import Console
import OptionValues
import Testing

@testable import chatbot

@Suite("the options of a call's end and its log")
struct EndingOptionsTests {
  private func options(_ arguments: String...) throws -> CallOptions {
    try CallOptions.parse(["--record", "out/"] + arguments)
  }

  @Test("they become the settings of the call")
  func settings() throws {
    let call = try options(
      "--leave-when-empty", "30s", "--leave-if-nobody", "5m", "--segment", "1m", "--room", "100", "--on-finish",
      "sh -c 'exit 1'", "--on-segment", "/bin/sh"
    ).settings().call
    #expect(call.leaveWhenEmpty == .seconds(30) && call.leaveIfNobody == .seconds(300) && call.room == "100")
    #expect(call.programs.onFinish == ["sh", "-c", "exit 1"] && call.programs.onSegment == ["/bin/sh"])
    let plain = try options().settings().call
    #expect(plain.leaveWhenEmpty == nil && plain.leaveIfNobody == nil && plain.programs == .init())
    #expect(try options("--require", "2", "--require", "anna").ending.require == [.users(2), .user("anna")])
  }

  @Test("each that needs another option says so")
  func needs() {
    let play = "--play=samples/test.webm"
    #expect(rejection(of: CallOptions.self, play, "--require", "1") == "--require needs --record.")
    #expect(rejection(of: CallOptions.self, play, "--on-finish", "true") == "--on-finish needs --record.")
    #expect(
      rejection(of: CallOptions.self, "--record", "out/", "--on-segment", "true") == "--on-segment needs --segment.")
    #expect(rejection(of: CallOptions.self, "--record", "out/", "--log-size", "1MB") == "--log-size needs --log-file.")
    #expect(rejection(of: CallOptions.self, "--record", "out/", "--summary", "") != nil)
    #expect(rejection(of: CallOptions.self, "--record", "out/", "--log-file", "log", "--log-size", "9kB") != nil)
    #expect(rejection(of: CallOptions.self, "--record", "out/", "--color", "sometimes") != nil)
  }

  @Test(
    "a program that does not exist and a summary that cannot be written are found before the call",
    arguments: [
      ["--on-finish", "/no/such/program"], ["--on-finish", "no-such-program-anywhere"], ["--on-finish", "sh 'x"],
      ["--on-finish", " "], ["--on-finish", "/etc/passwd"], ["--summary", "/no/such/folder/file"], ["--summary", "/"],
    ])
  func foundBefore(arguments: [String]) throws {
    let options = try CallOptions.parse(["--record", "out/"] + arguments)
    let failure = #expect(throws: CallFailure.self) { try options.settings() }
    #expect(failure?.code == (arguments[0] == "--summary" ? .disk : .usage))
    #expect(failure?.sentence.hasPrefix(arguments[0] == "--summary" ? "/" : "--on-finish") == true)
    #expect(failure?.sentence.hasSuffix(".") == true)
  }

  @Test("the log has its defaults, and a log file that cannot be opened is an error")
  func log() throws {
    let plain = try options().log
    #expect(plain.logFile == nil && plain.logFormat == .text && plain.color == .auto)
    let chosen = try options("--log-file", "/no/such/log", "--log-size", "500kB", "--log-format", "json").log
    #expect(chosen.logSize?.bytes == 500_000 && chosen.logFormat == .json)
    #expect(throws: (any Error).self) { try chosen.console() }
  }
}
