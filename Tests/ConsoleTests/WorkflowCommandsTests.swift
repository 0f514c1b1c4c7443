import Console
import Foundation
import Logging
import Testing

@Suite("commands for a runner of GitHub Actions in text of others")
struct WorkflowCommandsTests {
  @Test(
    "lines of output contain no command",
    arguments: [
      ("::error::x", ": :error::x"), ("  ::stop-commands::x", "  : :stop-commands::x"),
      ("a ##[error]b", "a # #[error]b"), ("###[error]b", "## #[error]b"), ("# [x] ## y", "# [x] ## y"),
      ("a ::b", "a ::b"), ("a\n::b\n", "a\n: :b\n"), ("a\r\n::b", "a\r\n: :b"), (":::b", ": ::b"),
      ("::\u{301}error::x", ": :\u{301}error::x"), ("", ""), ("::", ": :"),
    ])
  func removed(text: String, expected: String) {
    #expect(WorkflowCommands.removed(from: text) == expected)
  }

  /// What a console writes to standard error and to standard output.
  private func written(isInWorkflow: Bool, format: LogFormat = .text, _ body: (Console) -> Void) throws -> [String] {
    let pipes = (errors: Pipe(), output: Pipe())
    body(
      Console(
        isQuiet: false, format: format, isInWorkflow: isInWorkflow,
        output: pipes.output.fileHandleForWriting.fileDescriptor,
        errors: pipes.errors.fileHandleForWriting.fileDescriptor))
    return try [pipes.errors, pipes.output].map { pipe in
      try pipe.fileHandleForWriting.close()
      return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
  }

  private func isCommand(_ line: Substring) -> Bool {
    line.contains("##[") || line.drop { $0.isWhitespace }.hasPrefix("::")
  }

  @Test(
    "a name with a command switches nothing off: in results, sentences, errors and log lines",
    arguments: LogFormat.allCases)
  func console(format: LogFormat) throws {
    let name = "::stop-commands::x ##[error]y"
    func write(to console: Console) {
      console.result("  \(name) (a1)  0:00:00 to 0:00:01\n  \(name)")
      console.result(styled: name)
      console.say(name)
      console.report("The room is full.\n\(name)")
      console.write(line: "\t\(name)")
      console.write(styled: name)
      console.logger(name, level: .info).warning("\(name)", metadata: ["user": "\(name)"])
    }
    for (index, text) in try written(isInWorkflow: true, format: format, write).enumerated() {
      let lines = text.split(separator: "\n")
      #expect(lines.count == (index == 0 ? 6 : 3) && !lines.contains(where: isCommand), "\(text)")
    }
    let usual = try written(isInWorkflow: false, format: format, write)
    #expect(usual[1].contains("\n  \(name)\n"), "elsewhere names are printed as they are")
  }

  @Test("our own annotations are commands, in a job only")
  func annotations() throws {
    for isInWorkflow in [true, false] {
      let written = try written(isInWorkflow: isInWorkflow) { console in
        console.annotate(["::error title=a::b", "::error title=c::d"], onStandardError: false)
        console.annotate(["::error title=e::f"], onStandardError: true)
        console.annotate([], onStandardError: false)
      }
      let commands = ["::error title=e::f\n", "::error title=a::b\n::error title=c::d\n"]
      #expect(written == (isInWorkflow ? commands : ["", ""]))
    }
  }
}
