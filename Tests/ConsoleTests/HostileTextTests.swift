import Console
import Foundation
import Logging
import Testing

/// Text that users choose, in names, candidates and descriptions, and that is printed to a terminal or a log.
@Suite("terminal control sequences in text from the network") struct HostileTextTests {
  /// Tests refer to the texts by index, so that they do not control the terminal in which the tests run.
  private static let attacks = [
    "\u{1B}]0;owned\u{7}", "\u{1B}[2J\u{1B}[31m", "name\n12:00:00.000 ERROR   forged",
    "name\r12:00:00.000 ERROR   forged",
    "\u{9B}2J", "\u{90}payload\u{9C}", "\u{202E}gpj.exe", "\u{2066}x\u{2069}", "a\u{2028}b", "\u{0}", "\u{7F}",
    "\u{85}",
  ]

  /// The texts that a console writes to standard error and to standard output.
  private static func written(_ body: (Console) -> Void) throws -> [String] {
    let pipes = (errors: Pipe(), output: Pipe())
    body(
      Console(
        isQuiet: false, output: pipes.output.fileHandleForWriting.fileDescriptor,
        errors: pipes.errors.fileHandleForWriting.fileDescriptor))
    return try [pipes.errors, pipes.output].map { pipe in
      try pipe.fileHandleForWriting.close()
      return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
  }

  private static func isPrintable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control: scalar == "\n" || scalar == "\t"
      case .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }

  @Test("a log line stays one line, whatever is in its message and its values", arguments: attacks.indices)
  func log(index: Int) throws {
    let attack = Self.attacks[index]
    let written = try Self.written { console in
      let log = console.logger("test", level: .info)
      log.warning("The candidate \(attack) cannot be used", metadata: ["user": "\(attack)", "reason": "a \(attack) b"])
    }
    #expect(Self.isPrintable(written[0]))
    #expect(written[0].filter { $0 == "\n" }.count == 1)
    #expect(written[0].contains("The candidate ") && written[0].contains("cannot be used reason="))
  }

  @Test("sentences, results and errors are escaped", arguments: attacks.indices)
  func sentences(index: Int) throws {
    let attack = Self.attacks[index]
    let written = try Self.written { console in
      console.say("Joined \(attack).")
      console.report("The room \(attack) is full.")
      console.result("peer \(attack)")
    }
    #expect(written.allSatisfy(Self.isPrintable))
    #expect(written[1].contains("peer "))
  }

  @Test("ordinary text of any language is shown unchanged")
  func ordinary() throws {
    let text = "Grüße aus 東京, Привет, שלום"
    let written = try Self.written { console in
      console.logger("test", level: .info).info("\(text)", metadata: ["user": "ünï"])
      console.result(text)
    }
    #expect(written[0].contains("\(text) user=ünï"))
    #expect(written[1] == text + "\n")
  }

  @Test("a very long message is cut")
  func long() throws {
    let written = try Self.written { console in
      console.logger("test", level: .info).info("x", metadata: ["user": "\(String(repeating: "y", count: 1 << 20))"])
    }
    #expect(written[0].utf8.count < 1_200)
  }
}
