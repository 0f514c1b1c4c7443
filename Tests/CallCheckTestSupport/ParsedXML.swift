package import Foundation

#if canImport(FoundationXML)
  package import FoundationXML
#endif

/// XML parsed by libxml2, as many readers of reports do.
package final class ParsedXML: NSObject, XMLParserDelegate {
  package struct Element {
    package var name: String
    package var attributes: [String: String]
    /// The names of the enclosing elements, from the outermost on.
    package var path: [String]
    /// The element's own text, without that of its children.
    package var text = ""
    /// The index of the parent element.
    package var parent: Int?
  }

  package private(set) var elements: [Element] = []
  private var open: [Int] = []
  private var failure: String?

  /// The parser's error, for the message of a test; nil if the text is well-formed.
  package static func problem(of text: String) -> String? {
    let parsed = ParsedXML()
    return parsed.parse(text) ? nil : parsed.failure ?? "not well-formed"
  }

  package static func elements(of text: String) -> [Element] {
    let parsed = ParsedXML()
    return parsed.parse(text) ? parsed.elements : []
  }

  private func parse(_ text: String) -> Bool {
    let parser = XMLParser(data: Data(text.utf8))
    parser.shouldResolveExternalEntities = false
    parser.delegate = self
    let isWhole = parser.parse()
    if !isWhole { failure = failure ?? "line \(parser.lineNumber): \(parser.parserError.map { "\($0)" } ?? "?")" }
    return isWhole
  }

  package func parser(
    _: XMLParser, didStartElement name: String, namespaceURI _: String?, qualifiedName _: String?,
    attributes: [String: String]
  ) {
    elements.append(
      Element(name: name, attributes: attributes, path: open.map { elements[$0].name }, parent: open.last))
    open.append(elements.count - 1)
  }

  package func parser(_: XMLParser, didEndElement _: String, namespaceURI _: String?, qualifiedName _: String?) {
    open.removeLast()
  }

  package func parser(_: XMLParser, foundCharacters text: String) {
    if let last = open.last { elements[last].text += text }
  }

  package func parser(_: XMLParser, foundCDATA block: Data) {
    if let last = open.last { elements[last].text += String(decoding: block, as: UTF8.self) }
  }
}
