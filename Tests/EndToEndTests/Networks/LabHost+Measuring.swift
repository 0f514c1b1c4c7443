import Foundation
import NIOCore
import NIOPosix

extension LabHost {
  /// Whether a program on this host accepts TCP connections at its address.
  func accepts(port: Int) async -> Bool {
    let channel = try? await ClientBootstrap(group: namespace.network.loops).connectTimeout(.seconds(1))
      .connect(host: address, port: port).get()
    try? await channel?.close().get()
    return channel != nil
  }
}

extension NetworkLab {
  struct ProbeFailed: Error, CustomStringConvertible {
    let output: String

    var description: String { "The probe printed no result: \(output.suffix(600))" }
  }

  /// The script that measures, which has nothing in common with chatbot.
  private static let probe = BuiltProgram.repository.appendingPathComponent("Tests/Network/stun-probe.py").path

  /// Measures on a host; see the commands of `Tests/Network/stun-probe.py`.
  func probe(on host: LabHost, _ arguments: [String]) async throws -> JSON {
    let name = "probe-\(host.name)-\(UUID().uuidString.prefix(8))"
    let measuring = try await program(name, on: host, ["/usr/bin/python3", Self.probe] + arguments)
    _ = try await measuring.ending(within: .seconds(30))
    guard let result = try? JSON(parsing: measuring.output) else { throw ProbeFailed(output: measuring.output) }
    return result
  }

  /// Measures the NAT before a host.
  func behaviour(of host: LabHost, by server: TURNServer) async throws -> JSON {
    try await probe(on: host, ["behaviour", server.host.address])
  }

  /// Returns the sentence of the error, or nil if the host has obtained a relayed address.
  func refusal(
    of server: TURNServer, over transport: TURNServer.Transport, port: Int, to host: LabHost
  ) async throws -> String? {
    let result = try await probe(
      on: host,
      [
        "allocate", transport.rawValue, server.host.address, "\(port)", server.options.user, server.options.password,
      ])
    return result["error"].string
  }
}
