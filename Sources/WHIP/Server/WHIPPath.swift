import Media

/// The path of a request: an endpoint `/whip/ROOM` or `/whep/ROOM`, a session below it, or the list of those whom a player can
/// choose, `/whep/ROOM/participants`. Pure.
package enum WHIPPath: Sendable, Hashable {
  case endpoint(WHIPClient.Role, room: String, name: String?)
  case session(WHIPClient.Role, room: String, id: String)
  case participants(room: String)

  package static let maximumRoomScalars = 128
  package static let maximumNameScalars = 128

  /// Parses a request target, for example `/whip/100?name=Ann`; a slash at the end of the path changes nothing. Nil for
  /// other paths, and for rooms without a name or with one that is too long or contains control characters.
  package init?(target: String) {
    guard target.utf8.count <= 4_096, !target.utf8.hasRunOutsideASCII(over: 0) else { return nil }
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = parts.first, path.hasPrefix("/") else { return nil }
    var words = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    if words.last?.isEmpty ?? false { words.removeLast() }
    guard (2...4).contains(words.count) else { return nil }
    let role: WHIPClient.Role
    switch words[0] {
    case "whip": role = .publisher
    case "whep": role = .player
    default: return nil
    }
    guard let room = Self.percentDecoded(words[1]),
      (1...Self.maximumRoomScalars).contains(room.unicodeScalars.count),
      !room.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { return nil }
    if words.count == 3 {
      guard role == .player, words[2] == "participants" else { return nil }
      self = .participants(room: room)
    } else if words.count == 4 {
      guard words[2] == "sessions", (1...64).contains(words[3].utf8.count) else { return nil }
      self = .session(role, room: room, id: String(words[3]))
    } else {
      var name: String?
      for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") where pair.hasPrefix("name=") {
        name = name ?? Self.percentDecoded(pair.dropFirst(5), plusIsSpace: true)
      }
      name = name.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(Self.maximumNameScalars))) }
      self = .endpoint(role, room: room, name: name?.isEmpty ?? true ? nil : name)
    }
  }

  /// The path of a session.
  static func sessionPath(_ role: WHIPClient.Role, room: String, id: String) -> String {
    let room = room.utf8.map { unreserved.contains($0) ? String(UnicodeScalar($0)) : Self.percentEncoded($0) }.joined()
    return "/\(role == .publisher ? "whip" : "whep")/\(room)/sessions/\(id)"
  }

  /// Replaces percent-encoded bytes (RFC 3986, 2.1); nil if an encoding is invalid or the result is not UTF-8.
  private static func percentDecoded(_ text: Substring, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.popFirst().flatMap({ Character(UnicodeScalar($0)).hexDigitValue }),
          let low = rest.popFirst().flatMap({ Character(UnicodeScalar($0)).hexDigitValue })
        else { return nil }
        bytes.append(UInt8(high * 16 + low))
      } else {
        bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func percentEncoded(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "%" + (digits.count < 2 ? "0" : "") + digits
  }

  /// The characters that need no encoding (RFC 3986, 2.3).
  private static let unreserved = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}
