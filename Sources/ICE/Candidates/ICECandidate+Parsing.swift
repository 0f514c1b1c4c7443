extension ICECandidate {
  /// An error in the text of a candidate.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case endOfCandidates
    case tooLong(length: Int, limit: Int)
    case notASCII
    case noPrefix(String)
    case tooFewFields(found: Int)
    case badField(name: String, value: String)
    case unknownType(String)

    package var description: String {
      switch self {
      case .endOfCandidates: "The candidate is empty: the remote peer has no more candidates."
      case .tooLong(let length, let limit):
        "A candidate may have at most \(limit) characters, but this one has \(length)."
      case .notASCII: "A candidate has only ASCII characters, but this one has others."
      case .noPrefix(let text): "A candidate must start with \"candidate:\", but this one is \"\(text)\"."
      case .tooFewFields(let found): "A candidate needs at least 8 fields, but this one has \(found)."
      case .badField(let name, let value): "A candidate's \(name) cannot be \"\(value)\"."
      case .unknownType(let name): "The candidate type \"\(name)\" is unknown."
      }
    }
  }

  private static let maximumLength = 1_024

  /// Parses the SDP candidate attribute, with or without a leading `a=` (RFC 8839, 5.1).
  ///
  /// Empty text, which browsers send after their last candidate, is the error `endOfCandidates`.
  package init(parsing text: String) throws(ParseError) {
    guard text.utf8.count <= Self.maximumLength else {
      throw .tooLong(length: text.utf8.count, limit: Self.maximumLength)
    }
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
    var rest = text[...]
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    if rest.hasPrefix("a=") { rest.removeFirst(2) }
    if rest.isEmpty || rest.lowercased() == "candidate:" || rest.hasPrefix("end-of-candidates") {
      throw .endOfCandidates
    }
    let prefix = "candidate:"
    guard rest.prefix(prefix.count).lowercased() == prefix else { throw .noPrefix(String(rest.prefix(40))) }
    let fields = rest.dropFirst(prefix.count).split(separator: " ").map(String.init)
    guard fields.count >= 8 else { throw .tooFewFields(found: fields.count) }
    guard fields[6].lowercased() == "typ" else { throw .badField(name: "seventh field", value: fields[6]) }
    guard let type = ICECandidateType(rawValue: fields[7].lowercased()) else { throw .unknownType(fields[7]) }
    self.init(
      foundation: try Self.foundation(fields[0]),
      component: try Self.number(fields[1], in: 1...256, named: "component"),
      transport: fields[2],
      priority: try Self.number(fields[3], in: 0 ... .max, named: "priority"),
      host: try Self.host(fields[4]),
      port: try Self.number(fields[5], in: 0 ... .max, named: "port"),
      type: type)
    try readExtensions(fields[8...])
  }

  private mutating func readExtensions(_ fields: ArraySlice<String>) throws(ParseError) {
    var fields = fields
    if fields.count >= 4, fields[fields.startIndex] == "raddr", fields[fields.startIndex + 2] == "rport" {
      let port: UInt16 = try Self.number(fields[fields.startIndex + 3], in: 0 ... .max, named: "related port")
      related = Related(address: fields[fields.startIndex + 1], port: port)
      fields = fields.dropFirst(4)
    }
    while let name = fields.popFirst() {
      guard let value = fields.popFirst() else { throw .badField(name: "last extension", value: name) }
      extensions.append(Extension(name: name, value: value))
    }
  }

  private static func foundation(_ text: String) throws(ParseError) -> String {
    guard text.utf8.count <= 32, text.utf8.allSatisfy(ICECredentials.isLegacyICECharacter) else {
      throw .badField(name: "foundation", value: text)
    }
    return text
  }

  private static func host(_ text: String) throws(ParseError) -> Host {
    if let address = IPAddress(text) { return .address(address) }
    let isName = text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        || ICECredentials.isICECharacter(byte) && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "/")
    }
    // Digits and dots alone are a mistyped address, not a name.
    guard isName, text.utf8.contains(where: { $0 >= UInt8(ascii: "A") }) else {
      throw .badField(name: "address", value: text)
    }
    return .name(text)
  }

  private static func number<Value: FixedWidthInteger>(
    _ text: String, in range: ClosedRange<Value>, named name: String
  ) throws(ParseError) -> Value {
    guard let first = text.utf8.first, first != UInt8(ascii: "+"), let value = Value(text), range.contains(value) else {
      throw .badField(name: name, value: text)
    }
    return value
  }
}
