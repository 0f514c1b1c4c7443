import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The networks of programs and sockets.
  @Suite("networks of the tests") struct NetworkTests {
    @Test("a program runs in the requested network, whatever thread starts it")
    func programs() async throws {
      guard Machine.hasFirefox else { return print("skipped: no network namespace can be created here") }
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("networks-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let isolated = try await Network.isolated(log: folder.appendingPathComponent("isolated.log"))
      let host = await Network.host()
      let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(getpid())/ns/net")
      // Started from threads of the isolated network.
      for (name, network) in [("host", host), ("isolated", isolated)] {
        let log = folder.appendingPathComponent("\(name).log")
        let program = try await isolated.loops.next().submit {
          try ChildProcess(name, network.prefix + ["readlink", "/proc/self/ns/net"], log: log)
        }.get()
        #expect(try await program.ending(within: .seconds(10)) == .exit(0))
        let reported = program.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect((reported == own) == (name == "host"), "\(name): \(reported), the test is in \(own)")
      }
      await isolated.close()
      await host.close()
    }
  }
}
