import Glibc
import Webhooks

/// The address of a server that a caller gives, where the configuration allows any server.
///
/// It must not reach a program or a private network: a person who may submit jobs is not always trusted with those.
package enum ServerURL {
  /// Schemes of signalling systems that run no program (`exec:`) and need no credentials of this machine.
  package static let schemes = [
    "ws", "wss", "socketio+http", "socketio+https", "whip+http", "whip+https", "whep+http", "whep+https", "janus+ws",
    "janus+wss",
  ]

  /// Returns what is wrong with the text of an address, without looking up its name; nil if nothing is.
  package static func problem(_ text: String) -> String? {
    guard let host = host(of: text) else {
      return "The server is the address of a signalling server, like wss://calls.example."
    }
    return isPrivateName(host) ? isPrivate : nil
  }

  /// Returns what is wrong with an address whose name is looked up; nil if all its addresses are public. Blocks.
  ///
  /// A name can stand for another address later. The process that connects does not know that, so the network must forbid what
  /// jobs must not reach.
  package static func problemWhenResolved(_ text: String) -> String? {
    if let sentence = problem(text) { return sentence }
    guard let host = host(of: text) else { return nil }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return "The name of the server cannot be resolved." }
    defer { freeaddrinfo(list) }
    var next = list
    while let entry = next?.pointee {
      if !isPublic(entry) { return isPrivate }
      next = entry.ai_next
    }
    return nil
  }

  private static let isPrivate = "The server is on this machine or in a private network."

  /// The host between the scheme and the port or path, without brackets; nil if the text is no such address.
  static func host(of text: String) -> String? {
    guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let scheme = schemes.first(where: { text.lowercased().utf8.starts(with: "\($0)://".utf8) })
    else { return nil }
    let authority = text.utf8.dropFirst(scheme.utf8.count + 3).prefix { !"/?#".utf8.contains($0) }
    // Credentials have their own fields.
    guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "\\")) else { return nil }
    let host: [UInt8]
    if authority.first == UInt8(ascii: "[") {
      host = Array(authority.dropFirst().prefix { $0 != UInt8(ascii: "]") })
    } else {
      host = Array(authority.prefix { $0 != UInt8(ascii: ":") })
    }
    return host.isEmpty ? nil : String(decoding: host, as: UTF8.self)
  }

  private static func isPrivateName(_ host: String) -> Bool {
    let name = host.lowercased()
    let last = name.split(separator: ".").last.map { String($0) } ?? ""
    return ["localhost", "local", "internal", "home", "lan", "intranet", "corp"].contains(last)
      || !name.contains(".")
        && !name.contains(":")
  }

  /// Reads the address from the bytes of the system's structure: that of IPv4 begins at byte 4, that of IPv6 at byte 8 (ip(7), ipv6(7)).
  private static func isPublic(_ entry: addrinfo) -> Bool {
    guard let address = entry.ai_addr else { return false }
    let bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
    let found =
      switch entry.ai_family {
      case AF_INET: IPAddress(bytes: bytes.dropFirst(4).prefix(4))
      case AF_INET6: IPAddress(bytes: bytes.dropFirst(8).prefix(16))
      default: IPAddress?.none
      }
    return found?.isPublic ?? false
  }
}
