internal import Media

/// Reads JSON byte by byte and counts lines and columns. A text that is not JSON is an error at the byte where it stops to be.
struct LocatedJSONParser {
  private typealias Problem = LocatedJSON.Problem

  private let bytes: [UInt8]
  private let limits: JSONLimits
  private var offset = 0
  private var location = TextLocation.start
  private var values = 0

  init(_ bytes: some Collection<UInt8>, limits: JSONLimits) {
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = Array(bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes.dropFirst(0))
    self.limits = limits
  }

  mutating func document() throws(LocatedJSON.Problem) -> LocatedJSON {
    guard UntrustedText(validating: bytes) != nil else {
      throw Problem(location: .start, sentence: "The file is not UTF-8.")
    }
    let value = try value(depth: 0)
    skipSpace()
    guard offset == bytes.count else { throw unexpected("the end of the file") }
    return value
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(LocatedJSON.Problem) -> LocatedJSON {
    skipSpace()
    let start = location
    values += 1
    guard values <= limits.values else { throw problem("The file has more than \(limits.values) values.") }
    guard let byte = peek else { throw unexpected("a value") }
    let value: LocatedJSON.Value
    switch byte {
    case UInt8(ascii: "{"): value = .object(try members(depth: depth + 1))
    case UInt8(ascii: "["): value = .array(try elements(depth: depth + 1))
    case UInt8(ascii: "\""): value = .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = .number(try number())
    case UInt8(ascii: "t"):
      try word("true")
      value = .bool(true)
    case UInt8(ascii: "f"):
      try word("false")
      value = .bool(false)
    case UInt8(ascii: "n"):
      try word("null")
      value = .null
    default: throw unexpected("a value")
    }
    return LocatedJSON(location: start, value: value)
  }

  private mutating func members(depth: Int) throws(LocatedJSON.Problem) -> [LocatedJSON.Member] {
    try open(depth: depth)
    var members: [LocatedJSON.Member] = []
    var names: Set<UntrustedText> = []
    if isClosed(by: "}") { return members }
    repeat {
      skipSpace()
      let start = location
      guard peek == UInt8(ascii: "\"") else { throw unexpected("a name in quotes") }
      let name = try string()
      guard names.insert(name).inserted else {
        throw Problem(location: start, sentence: "\"\(name)\" is there twice.")
      }
      skipSpace()
      guard peek == UInt8(ascii: ":") else { throw unexpected("a colon") }
      advance()
      members.append(.init(location: start, name: name, value: try value(depth: depth)))
    } while try hasMore(before: "}")
    return members
  }

  private mutating func elements(depth: Int) throws(LocatedJSON.Problem) -> [LocatedJSON] {
    try open(depth: depth)
    var elements: [LocatedJSON] = []
    if isClosed(by: "]") { return elements }
    repeat { elements.append(try value(depth: depth)) } while try hasMore(before: "]")
    return elements
  }

  private mutating func open(depth: Int) throws(LocatedJSON.Problem) {
    guard depth <= limits.depth else { throw problem("The file is nested deeper than \(limits.depth) levels.") }
    advance()
  }

  private mutating func isClosed(by bracket: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: bracket) else { return false }
    advance()
    return true
  }

  /// Takes a comma or the closing bracket.
  private mutating func hasMore(before bracket: Unicode.Scalar) throws(LocatedJSON.Problem) -> Bool {
    if isClosed(by: bracket) { return false }
    guard peek == UInt8(ascii: ",") else { throw unexpected("a comma or \"\(bracket)\"") }
    advance()
    return true
  }

  private mutating func word(_ word: StaticString) throws(LocatedJSON.Problem) {
    let start = location
    for index in 0..<word.utf8CodeUnitCount {
      guard peek == word.utf8Start[index] else {
        throw Problem(location: start, sentence: "Expected \(word).")
      }
      advance()
    }
  }

  // MARK: Numbers and strings

  private mutating func number() throws(LocatedJSON.Problem) -> Double {
    let start = (offset: offset, location: location)
    if peek == UInt8(ascii: "-") { advance() }
    if peek == UInt8(ascii: "0") { advance() } else { try digits() }
    if peek == UInt8(ascii: ".") {
      advance()
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      advance()
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { advance() }
      try digits()
    }
    // All of them are ASCII.
    let text = String(decoding: bytes[start.offset..<offset], as: UTF8.self)
    guard text.utf8.count <= 64, let number = Double(text), number.isFinite
    else { throw Problem(location: start.location, sentence: "The number is too large.") }
    return number
  }

  private mutating func digits() throws(LocatedJSON.Problem) {
    guard let byte = peek, isDigit(byte) else { throw unexpected("a digit") }
    while let byte = peek, isDigit(byte) { advance() }
  }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private mutating func string() throws(LocatedJSON.Problem) -> UntrustedText {
    let start = location
    advance()
    var text: [UInt8] = []
    while true {
      guard let byte = peek else { throw Problem(location: start, sentence: "The string has no end.") }
      switch byte {
      case UInt8(ascii: "\""):
        advance()
        return UntrustedText(decoding: text)
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0..<0x20: throw problem("A control character in a string is written as an escape.")
      default:
        text.append(byte)
        advance()
      }
    }
  }

  private mutating func escape(into text: inout [UInt8]) throws(LocatedJSON.Problem) {
    let start = location
    advance()
    guard let byte = peek else { throw Problem(location: start, sentence: "The string has no end.") }
    advance()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return text.append(byte)
    case UInt8(ascii: "b"): return text.append(0x08)
    case UInt8(ascii: "f"): return text.append(0x0C)
    case UInt8(ascii: "n"): return text.append(0x0A)
    case UInt8(ascii: "r"): return text.append(0x0D)
    case UInt8(ascii: "t"): return text.append(0x09)
    case UInt8(ascii: "u"): break
    default: throw Problem(location: start, sentence: "There is no such escape.")
    }
    var code = try hexadecimal(start)
    if (0xD800..<0xDC00).contains(code), peek == UInt8(ascii: "\\") {
      advance()
      guard peek == UInt8(ascii: "u") else { throw half(start) }
      advance()
      let low = try hexadecimal(start)
      guard (0xDC00..<0xE000).contains(low) else { throw half(start) }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw half(start) }
    text += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }

  private func half(_ start: TextLocation) -> LocatedJSON.Problem {
    Problem(location: start, sentence: "The escape is one half of a surrogate pair.")
  }

  private mutating func hexadecimal(_ start: TextLocation) throws(LocatedJSON.Problem) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch peek {
      case let byte? where isDigit(byte): digit = byte - UInt8(ascii: "0")
      case let byte? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): digit = byte - UInt8(ascii: "a") + 10
      case let byte? where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): digit = byte - UInt8(ascii: "A") + 10
      default: throw Problem(location: start, sentence: "The escape has not four hexadecimal digits.")
      }
      code = code << 4 | UInt32(digit)
      advance()
    }
    return code
  }

  // MARK: Bytes

  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Goes on by a byte. A line ends with CR, LF or both.
  private mutating func advance() {
    guard let byte = peek else { return }
    offset += 1
    switch byte {
    case UInt8(ascii: "\n"): location = TextLocation(line: location.line + 1, column: 1)
    case UInt8(ascii: "\r"):
      if peek != UInt8(ascii: "\n") { location = TextLocation(line: location.line + 1, column: 1) }
    // A byte that continues a scalar.
    case 0x80..<0xC0: break
    default: location.column += 1
    }
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { advance() }
  }

  private func problem(_ sentence: String) -> LocatedJSON.Problem { Problem(location: location, sentence: sentence) }

  private func unexpected(_ expected: String) -> LocatedJSON.Problem {
    guard offset < bytes.count else { return problem("The file ends here; expected \(expected).") }
    return problem("Expected \(expected).")
  }
}
