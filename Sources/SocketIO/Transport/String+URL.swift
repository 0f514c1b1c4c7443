extension String {
  /// Escapes all but letters, digits, `-`, `_`, `.` and `~` (RFC 3986, 2.3).
  var escapedForQuery: String {
    var escaped = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        escaped += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return escaped
  }

  /// The text with the queries of its URLs removed: they may hold a token, or the session id.
  var withoutQueries: String {
    guard contains("?") else { return self }
    let shown = split(separator: " ", omittingEmptySubsequences: false)
      .map { $0.contains("://") ? $0.prefix { $0 != "?" } : $0 }
      .joined(separator: " ")
    // A question ends with a mark of its own.
    return hasSuffix("?") && !shown.hasSuffix("?") ? shown + "?" : shown
  }
}
