internal import FoundationEssentials

/// The address of a SkyRTC server as people have it: of the call page in a browser, of the WebSocket, or only a host and a port.
///
/// `http://localhost:3000/#100`, `ws://localhost:3000#100` and `localhost:3000/#100` are the WebSocket `ws://localhost:3000` and the
/// room 100; `https://example.org` is `wss://example.org`, and `example.org` is `ws://example.org`.
package struct RoomAddress: Sendable, Hashable {
  /// Begins with `ws://` or `wss://`, and has no fragment.
  package let webSocket: String
  /// The room that the fragment names; nil without one.
  package let room: String?

  /// - Returns: nil for the addresses of other systems, and for what is no address.
  package init?(_ text: String) {
    let (address, fragment) = Self.split(text)
    switch Self.scheme(of: address) {
    case "ws", "wss": webSocket = address
    case "http": webSocket = "ws" + Self.withoutLastSlash(address.dropFirst(4))
    case "https": webSocket = "wss" + Self.withoutLastSlash(address.dropFirst(5))
    case nil:
      guard Self.beginsWithHost(address) else { return nil }
      webSocket = "ws://" + Self.withoutLastSlash(address[...])
    default: return nil
    }
    guard let fragment, !fragment.isEmpty else {
      room = nil
      return
    }
    guard let name = URLComponents(string: "ws://host/#\(fragment)")?.fragment, !name.isEmpty else { return nil }
    room = name
  }

  /// Splits at the first `#`.
  private static func split(_ text: String) -> (address: String, fragment: Substring?) {
    guard let mark = text.firstIndex(of: "#") else { return (text, nil) }
    return (String(text[..<mark]), text[text.index(after: mark)...])
  }

  /// What is before `://`, in lower case.
  private static func scheme(of text: String) -> String? {
    text.firstRange(of: "://").map { text[..<$0.lowerBound].lowercased() }
  }

  /// The path of a page is that of its WebSocket; `/` is the same as none.
  private static func withoutLastSlash(_ text: Substring) -> String {
    text.hasSuffix("/") ? String(text.dropLast()) : String(text)
  }

  /// Whether a text without a scheme begins with a host: a name with a dot, `localhost`, an address, or a name with a port.
  private static func beginsWithHost(_ text: String) -> Bool {
    guard let parts = URLComponents(string: "ws://" + text), let host = parts.host, !host.isEmpty, parts.user == nil
    else {
      return false
    }
    let isName = host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }
    guard isName || host.hasPrefix("[") else { return false }
    return parts.port != nil || host.contains(".") || host.hasPrefix("[") || host.lowercased() == "localhost"
  }
}
