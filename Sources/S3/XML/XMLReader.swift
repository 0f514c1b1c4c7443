/// Reads documents of XML 1.0 that somebody else wrote, within limits. Pure.
///
/// It reads what stores send: elements, attributes (which are skipped), text, the five entities and numeric ones, CDATA, comments and
/// processing instructions. A document type is refused, and with it every entity that could grow. Namespaces are left out.
/// libxml2 reads more than that, all of which is of no use here and open to a hostile server.
package enum XMLReader {
  package struct Limits: Sendable, Hashable {
    package var bytes = 8 << 20
    package var elements = 50_000
    package var depth = 12
    package var nameBytes = 100

    package init() {}
  }

  /// Why a text is not read.
  package enum Problem: Error, Sendable, Hashable {
    case tooLarge
    case invalid(offset: Int)
  }

  /// Returns the root of a document in UTF-8.
  package static func read(_ bytes: [UInt8], within limits: Limits = Limits()) throws(Problem) -> XMLElement {
    guard bytes.count <= limits.bytes else { throw .tooLarge }
    var parser = Parser(bytes: bytes, limits: limits)
    return try parser.document()
  }

  private struct Parser {
    let bytes: [UInt8]
    let limits: Limits
    var offset = 0
    /// The elements that are open, from the root.
    var open: [XMLElement] = []
    var count = 0
    var root: XMLElement?

    init(bytes: [UInt8], limits: Limits) {
      self.bytes = bytes
      self.limits = limits
      // A byte order mark.
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    mutating func document() throws(Problem) -> XMLElement {
      while offset < bytes.count {
        if bytes[offset] == UInt8(ascii: "<") {
          try markup()
        } else {
          try text()
        }
      }
      guard open.isEmpty, let root else { throw invalid }
      return root
    }

    private var invalid: Problem { .invalid(offset: offset) }

    private func has(_ text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard bytes.count - offset >= count else { return false }
      return text.withUTF8Buffer { buffer in
        buffer.indices.allSatisfy { bytes[offset + $0] == buffer[$0] }
      }
    }

    /// Moves behind the next place of a text.
    private mutating func skip(to end: StaticString) throws(Problem) {
      while offset < bytes.count {
        if has(end) {
          offset += end.utf8CodeUnitCount
          return
        }
        offset += 1
      }
      throw invalid
    }

    private mutating func markup() throws(Problem) {
      if has("<!--") {
        offset += 4
        try skip(to: "-->")
      } else if has("<![CDATA[") {
        offset += 9
        let start = offset
        try skip(to: "]]>")
        guard !open.isEmpty else { throw invalid }
        open[open.count - 1].text += bytes[start..<(offset - 3)]
      } else if has("<?") {
        try skip(to: "?>")
      } else if has("</") {
        offset += 2
        let name = try name()
        skipSpaces()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ">"), let element = open.popLast(),
          element.name == name
        else { throw invalid }
        offset += 1
        try close(element)
      } else {
        offset += 1
        try element()
      }
    }

    private mutating func element() throws(Problem) {
      guard open.count < limits.depth, root == nil else { throw open.count < limits.depth ? invalid : .tooLarge }
      count += 1
      guard count <= limits.elements else { throw .tooLarge }
      let element = XMLElement(name: try name())
      while true {
        let before = offset
        skipSpaces()
        guard offset < bytes.count else { throw invalid }
        switch bytes[offset] {
        case UInt8(ascii: ">"):
          offset += 1
          open.append(element)
          return
        case UInt8(ascii: "/"):
          guard has("/>") else { throw invalid }
          offset += 2
          return try close(element)
        default:
          guard offset > before else { throw invalid }
          try attribute()
        }
      }
    }

    private mutating func attribute() throws(Problem) {
      _ = try name()
      skipSpaces()
      guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else { throw invalid }
      offset += 1
      skipSpaces()
      guard offset < bytes.count else { throw invalid }
      let mark = bytes[offset]
      guard mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else { throw invalid }
      offset += 1
      guard let end = bytes[offset...].firstIndex(of: mark), !bytes[offset..<end].contains(UInt8(ascii: "<")) else {
        throw invalid
      }
      offset = end + 1
    }

    private mutating func close(_ element: XMLElement) throws(Problem) {
      if open.isEmpty {
        root = element
      } else {
        open[open.count - 1].children.append(element)
      }
    }

    private mutating func skipSpaces() {
      while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Reads a name, and returns what is behind its colon.
    private mutating func name() throws(Problem) -> String {
      let start = offset
      var local = offset
      loop: while offset < bytes.count {
        switch bytes[offset] {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."):
          guard offset > start else { throw invalid }
        case 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): break
        case UInt8(ascii: ":"):
          guard offset > start, local == start else { throw invalid }
          local = offset + 1
        default: break loop
        }
        offset += 1
      }
      guard offset > local, offset - start <= limits.nameBytes else { throw invalid }
      return String(decoding: bytes[local..<offset], as: UTF8.self)
    }

    private mutating func text() throws(Problem) {
      guard !open.isEmpty else {
        // Only white space stands outside of the root.
        guard Self.isSpace(bytes[offset]) else { throw invalid }
        offset += 1
        return
      }
      if bytes[offset] == UInt8(ascii: "&") { return try entity() }
      let start = offset
      while offset < bytes.count, bytes[offset] != UInt8(ascii: "<"), bytes[offset] != UInt8(ascii: "&") { offset += 1 }
      open[open.count - 1].text += bytes[start..<offset]
    }

    private mutating func entity() throws(Problem) {
      guard let end = bytes[offset...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { throw invalid }
      let name = String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)
      let scalar: Unicode.Scalar
      switch name {
      case "lt": scalar = "<"
      case "gt": scalar = ">"
      case "amp": scalar = "&"
      case "quot": scalar = "\""
      case "apos": scalar = "'"
      default:
        guard name.utf8.first == UInt8(ascii: "#") else { throw invalid }
        let isHexadecimal = name.utf8.dropFirst().first == UInt8(ascii: "x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-"),
          let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), value > 0, let found = Unicode.Scalar(value)
        else { throw invalid }
        scalar = found
      }
      offset = end + 1
      open[open.count - 1].text += Array(String(scalar).utf8)
    }
  }
}
