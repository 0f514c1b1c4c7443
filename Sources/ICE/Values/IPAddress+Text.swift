extension IPAddress: CustomStringConvertible {
  /// Parses dotted IPv4 or IPv6 text (RFC 4291, 2.2); nil for anything else, including host names and addresses with a
  /// scope.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count <= 45 else { return nil }
    if bytes.contains(UInt8(ascii: ":")) {
      guard let address = Self.parseV6(bytes[...]) else { return nil }
      self = address
    } else {
      guard let value = Self.parseV4(bytes[...]) else { return nil }
      self = .v4(value)
    }
  }

  /// Dotted IPv4, or IPv6 in its canonical form (RFC 5952).
  package var description: String {
    switch self {
    case .v4(let value): Self.dotted(value)
    case .v6(let high, let low): Self.canonical(high: high, low: low)
    }
  }

  // MARK: Reading

  private static func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
      var number: UInt32 = 0
      for digit in part {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        number = number * 10 + UInt32(digit - UInt8(ascii: "0"))
      }
      guard number <= 255 else { return nil }
      value = value << 8 | number
    }
    return value
  }

  private static func parseV6(_ text: ArraySlice<UInt8>) -> IPAddress? {
    let colon = UInt8(ascii: ":")
    var gap: Int?
    for index in text.indices.dropLast() where text[index] == colon && text[index + 1] == colon {
      if gap != nil { return nil }  // `::` twice, or `:::`
      gap = index
    }
    guard let gap else {
      guard let groups = parseGroups(text, areLast: true), groups.count == 8 else { return nil }
      return address(of: groups)
    }
    guard let before = parseGroups(text[..<gap], areLast: false),
      let after = parseGroups(text[(gap + 2)...], areLast: true),
      before.count + after.count <= 7
    else { return nil }
    return address(of: before + Array(repeating: 0, count: 8 - before.count - after.count) + after)
  }

  /// Parses groups of one to four hexadecimal digits; the address may end in a dotted IPv4 address, which counts as two
  /// groups.
  private static func parseGroups(_ text: ArraySlice<UInt8>, areLast: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count <= 8 else { return nil }
    var groups: [UInt16] = []
    for (position, part) in parts.enumerated() {
      if part.contains(UInt8(ascii: ".")) {
        guard areLast, position == parts.count - 1, let value = parseV4(part) else { return nil }
        groups += [UInt16(truncatingIfNeeded: value >> 16), UInt16(truncatingIfNeeded: value)]
      } else {
        guard (1...4).contains(part.count), part.first != UInt8(ascii: "+"),
          let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
        else { return nil }
        groups.append(group)
      }
    }
    return groups
  }

  private static func address(of groups: [UInt16]) -> IPAddress? {
    guard groups.count == 8 else { return nil }
    let high = groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }
    let low = groups[4...].reduce(0) { $0 << 16 | UInt64($1) }
    return .v6(high: high, low: low)
  }

  // MARK: Writing

  private static func dotted(_ value: UInt32) -> String {
    "\(value >> 24).\(value >> 16 & 0xFF).\(value >> 8 & 0xFF).\(value & 0xFF)"
  }

  private static func canonical(high: UInt64, low: UInt64) -> String {
    if high == 0, low >> 32 == 0xFFFF { return "::ffff:" + dotted(UInt32(truncatingIfNeeded: low)) }
    let groups = [high, low].flatMap { half in
      stride(from: 48, through: 0, by: -16).map { UInt16(truncatingIfNeeded: half >> $0) }
    }
    func text(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
    guard let zeros = longestRunOfZeros(in: groups) else { return text(groups[...]) }
    return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
  }

  /// The first of the longest runs of at least two zero groups.
  private static func longestRunOfZeros(in groups: [UInt16]) -> Range<Int>? {
    var longest = 0..<0
    var start = 0
    for (index, group) in groups.enumerated() {
      if group != 0 {
        start = index + 1
      } else if index + 1 - start > longest.count {
        longest = start..<(index + 1)
      }
    }
    return longest.count >= 2 ? longest : nil
  }
}
