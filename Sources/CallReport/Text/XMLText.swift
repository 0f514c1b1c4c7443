/// Text for XML 1.0: what has a meaning there is written as an entity, and what may not be there at all (2.2, `Char`) as
/// U+FFFD.
enum XMLText {
  /// - Parameter isAttribute: in an attribute line ends and tabs are written by their numbers, since they would be read as
  ///   spaces.
  static func escaped(_ text: String, isAttribute: Bool) -> String {
    // Most text is plain, and a recording as base 64 has millions of bytes.
    if text.utf8.allSatisfy(isPlain) { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": scalars.append(contentsOf: "&amp;".unicodeScalars)
      case "<": scalars.append(contentsOf: "&lt;".unicodeScalars)
      case ">": scalars.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": scalars.append(contentsOf: "&quot;".unicodeScalars)
      case "'": scalars.append(contentsOf: "&#39;".unicodeScalars)
      case "\n", "\t":
        if isAttribute {
          scalars.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
        } else {
          scalars.append(scalar)
        }
      case "\r": scalars.append(contentsOf: "&#13;".unicodeScalars)
      default: scalars.append(isCharacter(scalar) ? scalar : "\u{FFFD}")
      }
    }
    return String(scalars)
  }

  /// Whether a byte stands for itself.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
    default: (0x20..<0x7F).contains(byte)
    }
  }

  /// Whether XML 1.0 lets a scalar be; control characters from U+007F on are allowed but of no use.
  private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: false
    default: !scalar.properties.isNoncharacterCodePoint
    }
  }
}
