import Foundation
import TestSupport
import Testing

@Suite("What the program writes for its installation")
struct InstalledDocumentsTests {
  @Test("the manual page has every command, and shells read the completions")
  func documents() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("share-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = Repository.folder.appendingPathComponent("scripts/install-documents.sh").path
    let installed = try ExternalTool.run("bash", [script, Repository.program, folder.path])
    #expect(installed.status == 0, "\(installed.errors)")
    func text(_ path: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }
    let page = try text("man/man1/chatbot.1")
    for command in ["CALL", "CHECK", "CONFIG SHOW", "DIAGNOSE", "INSPECT", "LOAD", "REPAIR", "SERVE", "SIGNALLINGS"] {
      #expect(page.contains(".SH \"CHATBOT \(command)\"\n"))
    }
    // A line of text that roff would take for a request is escaped.
    let requests: Set<Substring> = [".TH", ".SH", ".SS", ".TP", ".PP", ".br", ".nf", ".fi"]
    for line in page.split(separator: "\n") where line.hasPrefix(".") {
      #expect(requests.contains(line.prefix { $0 != " " }), "\(line)")
    }
    let completion = folder.appendingPathComponent("bash-completion/completions/chatbot").path
    #expect(try ExternalTool.run("bash", ["-n", completion]).status == 0)
    #expect(try text("zsh/site-functions/_chatbot").hasPrefix("#compdef chatbot"))
    #expect(try text("fish/vendor_completions.d/chatbot.fish").contains("complete -c 'chatbot'"))
  }

  @Test("chatbot-service has a manual page with its commands and completions, where packages of Debian have theirs")
  func documentsOfTheService() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("share-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = Repository.folder.appendingPathComponent("scripts/install-documents.sh").path
    let program = Repository.products.appendingPathComponent("chatbot-service").path
    let installed = try ExternalTool.run("env", ["VENDOR=1", "bash", script, program, folder.path])
    #expect(installed.status == 0, "\(installed.errors)")
    func text(_ path: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }
    let page = try text("man/man1/chatbot-service.1")
    for command in ["RUN", "JOBS SUBMIT", "JOBS PAUSE", "TOKEN", "CHECK\\-CONFIG"] {
      #expect(page.contains(".SH \"CHATBOT\\-SERVICE \(command)\"\n"), "\(command)")
    }
    #expect(page.contains(".SH \"EXIT STATUS\"\n"))
    // Files that are sourced are no programs.
    #expect(try !text("bash-completion/completions/chatbot-service").hasPrefix("#!"))
    #expect(try text("zsh/vendor-completions/_chatbot-service").hasPrefix("#compdef chatbot-service"))
    #expect(
      try text("fish/vendor_completions.d/chatbot-service.fish").contains("complete -c 'chatbot-service'"))
  }
}
