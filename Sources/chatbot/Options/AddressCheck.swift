import ArgumentParser
import FoundationEssentials
import Glibc

/// Finds what is wrong with an address before anything is connected to it.
enum AddressCheck {
  /// `ws://host[:port][/path]` or `wss://…`.
  static func server(_ text: String) throws(ValidationError) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
      throw ValidationError(
        "\"\(text)\" is no address of a server; one looks like \(ConnectionSettings.defaultServer).")
    }
    guard scheme == "ws" || scheme == "wss" else {
      throw ValidationError("A SkyRTC server is spoken to by ws:// or wss://, not by \(scheme)://.")
    }
    guard let host = parts.host, !host.isEmpty else {
      throw ValidationError("\"\(text)\" names no host; an address looks like \(ConnectionSettings.defaultServer).")
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      throw ValidationError("A port is 1 to 65535, not \(port).")
    }
  }

  /// `stun:host[:port]` (RFC 7064).
  static func iceServer(_ text: String) throws(ValidationError) {
    let (scheme, rest) = split(text)
    switch scheme.lowercased() {
    case "stun":
      break
    case "stuns", "turn", "turns":
      throw ValidationError("\"\(text)\": only stun: servers are spoken to, not \(scheme):.")
    default:
      throw ValidationError("\"\(text)\" is no ICE server; one looks like stun:stun.example.org:3478.")
    }
    // The host can be an IPv6 address in brackets.
    guard
      let parts = URLComponents(string: "stun://\(rest)"), let host = parts.host, !host.isEmpty, parts.path.isEmpty,
      parts.query == nil
    else {
      throw ValidationError("\"\(text)\" names no host; an ICE server looks like stun:stun.example.org:3478.")
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      throw ValidationError("A port is 1 to 65535, not \(port).")
    }
  }

  /// An IPv4 or IPv6 address in figures.
  static func address(_ text: String, option: String) throws(ValidationError) {
    var space = in6_addr()
    guard inet_pton(AF_INET, text, &space) == 1 || inet_pton(AF_INET6, text, &space) == 1 else {
      throw ValidationError("\(option) needs an IP address in figures, like 192.0.2.1 or 2001:db8::1, not \"\(text)\".")
    }
  }

  private static func split(_ text: String) -> (scheme: String, rest: Substring) {
    guard let colon = text.firstIndex(of: ":") else { return ("", text[...]) }
    return (String(text[..<colon]), text[text.index(after: colon)...])
  }
}
