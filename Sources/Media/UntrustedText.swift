internal import Glibc

/// Text that somebody else wrote: a message, a name or an id from the network, or from a file.
///
/// Swift compares, hashes and divides strings by characters, for which it normalises them. That takes a time that grows faster
/// than the text: seconds for a letter with 100,000 combining marks. So this type has only bytes of UTF-8. Two texts are equal
/// if their bytes are: `å` as one code point and as two are two texts.
///
/// - ``ascii`` is for what a protocol compares: names of messages, ids, tokens.
/// - ``description`` is for logs and terminals: short and escaped.
/// - ``string`` is for handing the text on unchanged. It must not be compared, hashed or counted.
package struct UntrustedText: Sendable {
  package let string: String

  package init(_ string: String) {
    self.string = string
  }

  /// Invalid sequences are replaced.
  package init(decoding bytes: some Collection<UInt8>) {
    string = String(decoding: bytes, as: UTF8.self)
  }

  /// Nil for bytes that are not UTF-8.
  package init?(validating bytes: some Sequence<UInt8>) {
    guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
    self.string = string
  }

  package var utf8: String.UTF8View { string.utf8 }
  package var unicodeScalars: String.UnicodeScalarView { string.unicodeScalars }
  package var isEmpty: Bool { string.isEmpty }

  /// The text if it is ASCII, which compares as fast as bytes; nil otherwise.
  package var ascii: String? { utf8.allSatisfy { $0 < 0x80 } ? string : nil }

  /// Whether the text begins with these bytes.
  package func hasPrefix(_ prefix: UntrustedText) -> Bool { utf8.starts(with: prefix.utf8) }
}

extension UntrustedText: Hashable, Comparable {
  package static func == (one: Self, other: Self) -> Bool { one.string.hasSameBytes(as: other.string) }
  package func hash(into hasher: inout Hasher) { string.hashBytes(into: &hasher) }
  package static func < (one: Self, other: Self) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }
}

extension UntrustedText: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral text: String) { self.init(text) }
  package var description: String { string.printable() }
}

extension UntrustedText: Codable {
  package init(from decoder: any Decoder) throws {
    string = try decoder.singleValueContainer().decode(String.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(string)
  }
}

/// A text of a protocol, which has only ASCII: the name of a message, an id, a token. Others are not decoded.
///
/// Strings of ASCII are compared and hashed by their bytes.
package struct ASCIIText: Sendable, Hashable, Decodable {
  package let string: String

  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    guard let ascii = UntrustedText(try value.decode(String.self)).ascii else {
      throw DecodingError.dataCorruptedError(in: value, debugDescription: "The text is not ASCII.")
    }
    string = ascii
  }
}

extension String {
  /// Whether the bytes of UTF-8 are the same.
  func hasSameBytes(as other: String) -> Bool {
    var (one, other) = (self, other)
    return one.withUTF8 { one in
      other.withUTF8 { other in
        guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
          return one.count == other.count
        }
        return memcmp(first, second, one.count) == 0
      }
    }
  }

  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}
