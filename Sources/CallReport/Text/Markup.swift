/// XML or XHTML that is being written. Whatever is put in is escaped, and every element that is begun ends: names of elements
/// and attributes are the program's own, all else may come from the wire.
struct Markup {
  typealias Attributes = KeyValuePairs<StaticString, String?>

  private(set) var text = ""

  /// An element with what is in it.
  ///
  /// - Parameter attributes: those that are nil are skipped.
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

  /// An element that has nothing in it and no end tag of its own.
  mutating func empty(_ name: StaticString, _ attributes: Attributes = [:]) {
    begin(name, attributes)
    text += "/>"
  }

  /// Text.
  mutating func write(_ content: String) { text += XMLText.escaped(content, isAttribute: false) }

  /// What is markup already, or is escaped by other rules; never anything from the wire.
  mutating func write(trusted content: String) { text += content }

  mutating func newLine() { text += "\n" }

  private mutating func begin(_ name: StaticString, _ attributes: Attributes) {
    text += "<\(name)"
    for case (let name, let value?) in attributes {
      text += " \(name)=\"\(XMLText.escaped(value, isAttribute: true))\""
    }
  }
}
