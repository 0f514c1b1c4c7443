import Foundation
import TestSupport
import Testing

@Suite("The public interfaces")
struct PublicInterfaceTests {
  /// The modules of the library products, and those that they export.
  static let modules = [
    "BotPeer", "Call", "CallCheck", "CallReport", "ExecSignalling", "FaultInjection", "FileSource", "Firestore",
    "HTTPTransport", "Inspection", "Janus", "LiveSource", "Load", "Media", "NetworkEmulation", "PeerEngine", "Recorder",
    "Room", "RoomMessages", "RoomServer", "SCTP", "Signalling", "SkyRTC", "SocketIO", "WHIP",
  ]

  @Test("are those of Tests/DocumentationTests/Interfaces; `make reference` writes them after a decision to change one")
  func areUnchanged() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("symbols-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = Repository.folder.appendingPathComponent("scripts/symbols.sh").path
    let made = try ExternalTool.run(script, [folder.path] + Self.modules, limit: 120)
    try #require(made.status == 0, "\(made.errors)")
    for module in Self.modules {
      let interface = try PublicInterface(of: module, in: folder).text
      let path = "Tests/DocumentationTests/Interfaces/\(module).txt"
      #expect(!interface.isEmpty)
      if try Repository.update(path, with: interface) { continue }
      let kept = Set(try Repository.text(of: path).split(separator: "\n"))
      let now = Set(interface.split(separator: "\n"))
      let (added, removed) = (now.subtracting(kept).sorted(), kept.subtracting(now).sorted())
      #expect(added.isEmpty && removed.isEmpty, "\(module) has gained \(added) and lost \(removed).")
    }
  }
}
