import TestSupport
import Testing

@Suite("The reference of the command line")
struct CommandLineReferenceTests {
  @Test("docs/cli.md is what the parser of the built program says; `make reference` writes it")
  func isCurrent() throws {
    let dump = try ExternalTool.run(Repository.program, ["--experimental-dump-help"])
    #expect(dump.status == 0, "\(dump.errors)")
    let reference = try CommandLineReference(dump: dump.output).markdown
    if try Repository.update("docs/cli.md", with: reference) { return }
    #expect(try Repository.text(of: "docs/cli.md") == reference)
  }
}
