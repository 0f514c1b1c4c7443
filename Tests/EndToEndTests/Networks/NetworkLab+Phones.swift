import Foundation

extension NetworkLab {
  /// Starts the socket.io server of `Tests/Interop` on a host and waits until it accepts connections.
  ///
  /// - Returns: The address for `--server`.
  func phoneServer(on host: LabHost) async throws -> String {
    let port = 9012
    let command = PhoneServer.command(.fourth, "socketio-server.py") + ["--host", host.address, "--port", "\(port)"]
    let server = try await scenario.service("phone server", host.prefix + command)
    try await eventually("socket.io server on \(host.name)", within: .seconds(15)) { () -> Bool? in
      guard server.isRunning else { throw NotStarted(name: server.name, output: server.output) }
      return await host.accepts(port: port) ? true : nil
    }
    return "socketio+http://\(host.urlHost):\(port)"
  }

  /// Starts a bot with the address of any signalling system and waits until it has joined.
  func caller(_ name: String, on host: LabHost, _ arguments: [String]) async throws -> Bot {
    let bot = try await bot(name, on: host, arguments)
    try await scenario.joined(bot, within: .seconds(15))
    return bot
  }
}
