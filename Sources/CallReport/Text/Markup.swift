/// Writes XML or XHTML. It escapes all text and closes every element. Names of elements and attributes are the
/// program's own; everything else may come from the network.
struct Markup {
  typealias Attributes = KeyValuePairs<StaticString, String?>

  private(set) var text = ""

  /// Writes an element with content.
  ///
  /// - Parameter attributes: attributes with the value nil are left out.
  mutating func element(
    _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout Markup) -> Void
  ) {
    begin(name, attributes)
    text += ">"
    content(&self)
    text += "</\(name)>"
  }

  mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text content: String) {
    element(name, attributes) { $0.write(content) }
  }

  /// Writes an element without content.
  mutating func empty(_ name: StaticString, _ attributes: Attributes = [:]) {
    begin(name, attributes)
    text += "/>"
  }

  /// Writes text, escaped.
  mutating func write(_ content: String) { text += XMLText.escaped(content, isAttribute: false) }

  /// Writes text that is markup already or is escaped by other rules; never text from the network.
  mutating func write(trusted content: String) { text += content }

  mutating func newLine() { text += "\n" }

  private mutating func begin(_ name: StaticString, _ attributes: Attributes) {
    text += "<\(name)"
    for case (let name, let value?) in attributes {
      text += " \(name)=\"\(XMLText.escaped(value, isAttribute: true))\""
    }
  }
}

/// Escapes text for XML 1.0. Markup characters become entities, and characters that XML forbids (2.2, `Char`) become
/// U+FFFD.
enum XMLText {
  /// Returns escaped text.
  ///
  /// - Parameter isAttribute: whether the text is an attribute. Line ends and tabs are then written as character
  ///   references, since a parser would read them as spaces.
  static func escaped(_ text: String, isAttribute: Bool) -> String {
    // Most text needs no escaping, and a recording in base 64 has millions of bytes.
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

  /// Whether a byte needs no escaping.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
    default: (0x20..<0x7F).contains(byte)
    }
  }

  /// Whether XML 1.0 allows a scalar. Control characters from U+007F on are allowed, but useless.
  private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: false
    default: !scalar.properties.isNoncharacterCodePoint
    }
  }
}
