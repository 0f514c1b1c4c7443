import DataMessages
import Media
import Testing

@Suite("Names of received files")
struct FileNameTests {
  @Test(
    "names that lead out of a folder or hide a file are refused",
    arguments: [
      ("../../etc/passwd", FileName.Problem.pathSeparator), ("/abs", .pathSeparator), ("a/b", .pathSeparator),
      ("C:\\x", .pathSeparator), ("..\\x", .pathSeparator), ("C:x", .drive), (".hidden", .hidden), ("..", .hidden),
      (".", .hidden), (" .hidden", .hidden), ("\u{202E}.hidden", .hidden), ("\u{0}.bashrc", .hidden), ("", .empty),
      (" \t", .empty), ("\u{202E}\u{0}", .empty), ("\u{200D}", .empty),
    ])
  func refused(name: String, problem: FileName.Problem) {
    #expect(throws: problem) { try FileName(announced: UntrustedText(name)) }
    #expect(problem.description.hasSuffix("."))
  }

  @Test(
    "invisible characters are removed, and other names are kept",
    arguments: [
      ("a.png", "a.png"), ("Grüße 2026 (1).tar.gz", "Grüße 2026 (1).tar.gz"), ("文件.txt", "文件.txt"),
      ("a\u{202E}gnp.exe", "agnp.exe"), ("a\u{0}b\nc\u{7F}.png", "abc.png"), ("\u{FEFF}a\u{2028}\u{200B}.txt", "a.txt"),
      ("  a b .txt  ", "a b .txt"), ("a...", "a"), ("-rf", "_rf"), ("👨\u{200D}👩.png", "👨\u{200D}👩.png"),
      ("ab:c", "ab:c"),
    ])
  func changed(name: String, safe: String) throws {
    #expect(try FileName(announced: UntrustedText(name)).description == safe)
  }

  @Test("a long name is cut to 250 bytes before its extension")
  func long() throws {
    let name = try FileName(announced: UntrustedText(String(repeating: "é", count: 400) + ".webm"))
    #expect(name.description == String(repeating: "é", count: 122) + ".webm")
    #expect(name.description.utf8.count == 249, "no character is cut in two")
    #expect(try FileName(announced: UntrustedText(String(repeating: "a", count: 400))).description.utf8.count == 250)
    #expect(
      try FileName(announced: UntrustedText("a." + String(repeating: "b", count: 400))).description.utf8.count == 250)
    // One character of any length.
    let marks = try FileName(announced: UntrustedText("a" + String(repeating: "\u{301}", count: 100_000) + ".png"))
      .description
    #expect(marks.utf8.count <= 250 && marks.unicodeScalars.first == "a")
    #expect(marks.utf8.suffix(4).elementsEqual(".png".utf8))
  }

  @Test("numbered names keep the extension and the limit")
  func numbered() throws {
    let name = try FileName(announced: "a.png")
    #expect(name.numbered(1).description == "a.png")
    #expect(name.numbered(2).description == "a (2).png")
    #expect(try FileName(announced: "README").numbered(3).description == "README (3)")
    #expect(try FileName(announced: "a.tar.gz").numbered(12).description == "a.tar (12).gz")
    let long = try FileName(announced: UntrustedText(String(repeating: "x", count: 300) + ".png")).numbered(1_000)
    #expect(long.description.utf8.count == 250 && long.description.hasSuffix("x (1000).png"))
    #expect(name.pathExtension == "png" && long.pathExtension == "png")
  }

  @Test(
    "no name is that of our log, of a file that is not complete, or of a device, in any case and form",
    arguments: [
      ("received.jsonl", "_received.jsonl"), ("RECEIVED.JSONL", "_RECEIVED.JSONL"),
      ("received.jsonl.", "_received.jsonl"),
      ("received (2).jsonl", "_received (2).jsonl"), ("rece\u{200D}ived.jsonl", "_rece\u{200D}ived.jsonl"),
      ("received.j\u{17F}onl", "_received.j\u{17F}onl"), ("Received 2026.jsonl", "_Received 2026.jsonl"),
      ("received.json", "received.json"), ("a.part", "a.part_"), ("a.PART", "a.PART_"), ("CON", "_CON"),
      ("con.txt", "_con.txt"), ("nul .txt", "_nul .txt"), ("COM1", "_COM1"), ("com\u{B9}.txt", "_com\u{B9}.txt"),
      ("COM10", "COM10"), ("console", "console"), ("aux.part", "_aux.part_"), ("_received.jsonl", "_received.jsonl"),
    ])
  func reserved(announced: String, safe: String) throws {
    let name = try FileName(announced: UntrustedText(announced))
    #expect(name.description.utf8.elementsEqual(safe.utf8))
    let own = (1...3).map { FileNameRules.folded(FileName.log($0)) }
    for number in [1, 2, 3, 10_000] {
      #expect(!own.contains(FileNameRules.folded(name.numbered(number).description)))
      #expect(!FileNameRules.folded(name.numbered(number).description).hasSuffix(FileName.partExtension))
    }
  }

  @Test("a long name that is cut ends in neither a dot nor a space")
  func cutEnd() throws {
    for end in [". ", " .", "  ", ".."] {
      let name = try FileName(
        announced: UntrustedText(String(repeating: "x", count: 248) + end + "tail of the name, long"))
      #expect(name.description.utf8.count <= 250)
      #expect(!name.description.hasSuffix(".") && !name.description.hasSuffix(" "))
    }
  }
}
