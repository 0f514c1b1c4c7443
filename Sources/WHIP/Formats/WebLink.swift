import Media
package import NIOHTTP1
package import Signalling

/// A link of a `Link` header (RFC 8288, 3). Pure.
package struct WebLink: Sendable, Hashable {
  /// The text between angle brackets.
  package var target: String
  /// The parameters by their names in lower case; of a repeated one the first.
  package var parameters: [String: String]

  package static let maximumFieldBytes = 8_192
  /// The maximum size of all fields of a response together; further fields are ignored.
  package static let maximumResponseBytes = 32_768
  package static let maximumCount = 64
  /// The maximum number of parameters of a link; further ones are ignored.
  package static let maximumParameterCount = 16

  /// Parses one header field, which may contain several links. What is no link is skipped. Each byte is read a fixed
  /// number of times at most.
  package static func parse(_ field: String) -> [WebLink] {
    guard field.utf8.count <= maximumFieldBytes,
      !field.utf8.hasRunOutsideASCII(over: SDPOutline.maximumRunOutsideASCII)
    else { return [] }
    var scanner = Scanner(bytes: Array(field.utf8))
    var links: [WebLink] = []
    while links.count < maximumCount, scanner.skipToTarget() {
      guard let target = scanner.target() else { break }
      var parameters: [String: String] = [:]
      while let (name, value) = scanner.parameter() {
        if !name.isEmpty, parameters[name] == nil, parameters.count < maximumParameterCount {
          parameters[name] = value
        }
      }
      links.append(WebLink(target: target, parameters: parameters))
      scanner.skipToComma()
    }
    return links
  }

  /// The STUN or TURN server that the link names (RFC 9725, 4.6); nil if it has another relation or uses credentials
  /// other than a password.
  package var iceServer: ICEServer? {
    let relations = parameters["rel", default: ""].lowercased().split(separator: " ")
    let scheme = target.prefix { $0 != ":" }.lowercased()
    guard relations.contains("ice-server"), ["stun", "stuns", "turn", "turns"].contains(scheme),
      target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      parameters["credential-type", default: "password"].lowercased() == "password"
    else { return nil }
    return ICEServer(url: target, username: parameters["username"], credential: parameters["credential"])
  }

  /// The ICE servers of a response, at most 16, of the first 64 links.
  package static func iceServers(in headers: HTTPHeaders) -> [ICEServer] {
    var servers: [ICEServer] = []
    var links = maximumCount
    var bytes = maximumResponseBytes
    for field in headers["Link"].prefix(maximumCount) {
      bytes -= field.utf8.count
      guard bytes >= 0 else { break }
      for link in parse(field).prefix(links) {
        links -= 1
        if let server = link.iceServer { servers.append(server) }
        if servers.count == 16 { return servers }
      }
      if links == 0 { break }
    }
    return servers
  }

  /// Reads bytes in order; it never reads beyond the end.
  private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
      while current == 0x20 || current == 0x09 { position += 1 }
    }

    mutating func skipToTarget() -> Bool {
      while let byte = current, byte != UInt8(ascii: "<") { position += 1 }
      return current != nil
    }

    /// The text up to the closing bracket.
    mutating func target() -> String? {
      position += 1
      let start = position
      while let byte = current, byte != UInt8(ascii: ">") { position += 1 }
      guard current != nil else { return nil }
      defer { position += 1 }
      return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// `; name`, `; name=token` or `; name="quoted text"`.
    mutating func parameter() -> (name: String, value: String)? {
      skipSpace()
      guard current == UInt8(ascii: ";") else { return nil }
      position += 1
      skipSpace()
      let name = token().lowercased()
      skipSpace()
      guard current == UInt8(ascii: "=") else { return (name, "") }
      position += 1
      skipSpace()
      return (name, current == UInt8(ascii: "\"") ? quoted() : token())
    }

    private mutating func token() -> String {
      let start = position
      while let byte = current, !Self.endsToken(byte) { position += 1 }
      if position > start { skipPadding() }
      return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Base64 in a token may end with one or two "=", although the grammar forbids it.
    private mutating func skipPadding() {
      var end = position
      while end < bytes.count, bytes[end] == UInt8(ascii: "="), end - position < 3 { end += 1 }
      guard end - position < 3, end == bytes.count || Self.endsParameter(bytes[end]) else { return }
      position = end
    }

    private static func endsToken(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "="), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): true
      default: endsParameter(byte)
      }
    }

    private static func endsParameter(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ";"), UInt8(ascii: ","): true
      default: false
      }
    }

    private mutating func quoted() -> String {
      position += 1
      var value: [UInt8] = []
      while let byte = current, byte != UInt8(ascii: "\"") {
        position += 1
        if byte == UInt8(ascii: "\\"), let escaped = current {
          value.append(escaped)
          position += 1
        } else {
          value.append(byte)
        }
      }
      if current != nil { position += 1 }
      return String(decoding: value, as: UTF8.self)
    }

    mutating func skipToComma() {
      while let byte = current, byte != UInt8(ascii: ",") {
        if byte == UInt8(ascii: "\"") { _ = quoted() } else { position += 1 }
      }
    }
  }
}
