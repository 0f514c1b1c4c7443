import ArgumentParser
import FoundationEssentials
import Glibc
import Media
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

  /// Validates the address of a server: a scheme of a signalling system, a host, and what follows.
  ///
  /// - Parameter room: the room of `--room`, which an address may name as well.
  static func server(_ text: String, room: String? = nil) throws(ValidationError) {
    if let room, let named = SignallingSystems.address(of: text).room, named != room {
      throw ValidationError(
        "--server names the room \(DisplayText.plain(named, longest: 128)), but --room is \(room); one of them suffices."
      )
    }
    if let system = SignallingSystems.adapter(of: text), !system.addressIsURL { return }
    if let scheme = mediaServerScheme(of: text) {
      throw ValidationError(
        "\"\(text)\" looks like the address of a media server; its address begins with \(scheme)://.")
    }
    guard let parts = URLComponents(string: SignallingSystems.address(of: text).address.description),
      let scheme = parts.scheme?.lowercased()
    else {
      throw ValidationError(
        "\"\(text)\" is not a server address; one looks like \(ServerSettings.defaultAddress).")
    }
    guard let system = SignallingSystems.adapter(of: text) else {
      let schemes = SignallingSystems.all.flatMap(\.addressPrefixes)
      throw ValidationError(
        "The URL of a server must start with \(schemes.dropLast().joined(separator: ", ")) or \(schemes.last ?? ""), "
          + "not \(scheme)://.")
    }
    guard system.addressNamesHost else { return }
    guard let host = parts.host, !host.isEmpty else {
      throw ValidationError("\"\(text)\" names no host; an address looks like \(ServerSettings.defaultAddress).")
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      throw ValidationError("A port is 1 to 65535, not \(port).")
    }
  }

  /// The scheme that was forgotten in the URL of a media server, whose path has the name of its protocol: `whip+https`; nil for other
  /// texts.
  private static func mediaServerScheme(of text: String) -> String? {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      scheme == "http" || scheme == "https"
    else { return nil }
    let path = parts.path.lowercased().split(separator: "/")
    let schemes = SignallingSystems.all.flatMap(\.schemes)
    return path.lazy.map { "\($0)+\(scheme)" }.first(where: schemes.contains)
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
