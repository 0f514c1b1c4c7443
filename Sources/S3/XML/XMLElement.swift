/// An element of XML, with what is inside.
package struct XMLElement: Sendable, Hashable {
  /// Without the prefix of a namespace. ASCII.
  package var name: String
  /// The text that is directly inside, in one piece.
  package var text: [UInt8] = []
  package var children: [XMLElement] = []

  init(name: String) { self.name = name }

  /// Returns the first child of a name.
  package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  /// Returns all children of a name.
  package func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

  /// Returns the text of the first child of a name, without white space at its ends; nil if there is none, or if it is not UTF-8.
  package func text(of name: String) -> String? {
    guard let child = self[name] else { return nil }
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    var text = child.text[...]
    while let first = text.first, isSpace(first) { text.removeFirst() }
    while let last = text.last, isSpace(last) { text.removeLast() }
    return String(validating: text, as: UTF8.self)
  }
}
