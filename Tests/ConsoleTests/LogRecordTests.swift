import Console
import Foundation
import Logging
import Testing

@Suite("lines of a log")
struct LogRecordTests {
  private func record(_ level: String = "info", _ message: String = "user joined", _ fields: [String: String] = [:])
    -> LogRecord
  {
    LogRecord(seconds: 1_772_357_400, nanoseconds: 7_999_999, level: level, message: message, fields: fields)
  }

  @Test("a line has the date in UTC with milliseconds, or the time of day")
  func dates() {
    let dated = record("info", "user joined", ["user": "a b", "id": "x"]).text(isDated: true)
    #expect(dated == "2026-03-01T09:30:00.007Z INFO    user joined id=x user=\"a b\"")
    let timed = record().text(isDated: false)
    #expect(timed.dropFirst(8) == ".007 INFO    user joined")
    #expect(LogRecord(seconds: -1, nanoseconds: 0, level: "info", message: "").date == "1969-12-31T23:59:59.000Z")
  }

  @Test("only the level of warnings and errors has a colour")
  func colours() {
    #expect(record("warning").text(isDated: true, isColoured: true).contains("\u{1B}[33mWARNING\u{1B}[0m user"))
    #expect(record("error").text(isDated: true, isColoured: true).contains("\u{1B}[31mERROR\u{1B}[0m   user"))
    #expect(record("info").text(isDated: true, isColoured: true) == record("info").text(isDated: true))
  }

  @Test("JSON is one line with the time, the level, the message and the fields, whatever is in them")
  func json() throws {
    #expect(
      record("notice", "x", ["user": "ü\n\u{202E}\""]).json
        == #"{"fields":{"user":"ü\n\u202e\""},"level":"notice","message":"x","time":"2026-03-01T09:30:00.007Z"}"#)
    #expect(record().json == #"{"level":"info","message":"user joined","time":"2026-03-01T09:30:00.007Z"}"#)
    let long = record("info", String(repeating: "m", count: 9_000), ["v": String(repeating: "v", count: 9_000)])
    #expect(long.json.utf8.count < 3_200 && long.text(isDated: true).utf8.count < 3_200)
  }

  @Test("colours are for terminals, unless NO_COLOR is set; the option decides before")
  func choice() {
    for noColor in [nil, "", "1"] {
      #expect(ColorChoice.always.isColoured(isTerminal: false, noColor: noColor))
      #expect(!ColorChoice.never.isColoured(isTerminal: true, noColor: noColor))
      #expect(!ColorChoice.auto.isColoured(isTerminal: false, noColor: noColor))
      #expect(ColorChoice.auto.isColoured(isTerminal: true, noColor: noColor) == (noColor != "1"))
    }
  }

  @Test("in the format for programs sentences and errors are lines of the log, and a log file has the errors too")
  func console() throws {
    let pipe = Pipe()
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try LogFile(path: path, format: .json)
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let console = Console(isQuiet: false, format: .json, logFile: file, errors: descriptor)
    console.logger("test", level: .info).info("user joined", metadata: ["user": "anna"])
    console.say("The server listens.")
    console.report("Nothing was recorded.")
    console.close()
    try pipe.fileHandleForWriting.close()
    let errors = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(errors.split(separator: "\n").count == 2 && errors.contains(#""message":"The server listens.""#))
    let written = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(
      written.count == 2 && written[0].contains(#"{"user":"anna"}"#) && written[1].contains("Nothing was recorded."))
  }
}
