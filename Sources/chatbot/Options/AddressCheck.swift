import ArgumentParser
import Glibc
import SignallingAdapters

/// Validates addresses before connecting to them.
enum AddressCheck {
  /// Validates the local address or the interfaces to send from.
  static func source(bindAddress: String?, bindInterfaces: [String]) throws {
    if let bindAddress { try address(bindAddress, option: "--bind-address") }
    if bindAddress != nil, !bindInterfaces.isEmpty {
      throw ValidationError("--bind-interface cannot be used together with --bind-address.")
    }
    if let name = bindInterfaces.first(where: { !(1...15).contains($0.utf8.count) || $0.contains("/") }) {
      throw ValidationError("--bind-interface needs the name of an interface, like eth0, not \"\(name)\".")
    }
  }

  /// Validates the address of a server.
  ///
  /// - Parameter room: the room of `--room`, which an address may name as well.
  static func server(_ text: String, room: String? = nil) throws(ValidationError) {
    let systems = SignallingSystems.supported
    let problem = systems.problem(withServer: text, room: room, example: ServerSettings.defaultAddress)
    if let problem { throw ValidationError(problem) }
  }

  /// Validates the TCP ports of ICE, one for each thread.
  static func tcpPorts(_ first: UInt16, count: Int = 1) throws(ValidationError) {
    // In candidates it stands for no port (RFC 6544, 4.5).
    guard first > 0, first <= 9, Int(first) + count > 9 else { return }
    throw ValidationError("--tcp-port cannot use port 9, the Discard protocol's.")
  }

  /// Validates a numeric IPv4 or IPv6 address.
  static func address(_ text: String, option: String) throws(ValidationError) {
    var space = in6_addr()
    guard inet_pton(AF_INET, text, &space) == 1 || inet_pton(AF_INET6, text, &space) == 1 else {
      throw ValidationError("\(option) needs a numeric IP address, like 192.0.2.1 or 2001:db8::1, not \"\(text)\".")
    }
  }
}
