package import FoundationEssentials

/// Decodes JSON that somebody else wrote, within limits. All JSON from outside is decoded here.
///
/// A decoder takes a hundred times as long as a look at the brackets, and it hashes the names of values as Swift strings, which
/// takes seconds for long names that are not ASCII: see `UntrustedText`, the type for the texts in a decoded value. So size,
/// depth, number of values and names are checked before anything is decoded.
package enum JSONReader {
  /// Why a text is not decoded.
  package enum Problem: Error, Sendable, Hashable {
    case tooLarge(bytes: Int, limit: Int)
    case tooMuch(values: Int, depth: Int)
    /// It is not JSON of the expected type, or has an unusable name.
    case invalid(bytes: Int)
  }

  package static func decode<Value: Decodable>(
    _ type: Value.Type, from text: String, within limits: JSONLimits
  ) throws(Problem) -> Value {
    try check(text.utf8, within: limits)
    return try decode(type, Data(text.utf8))
  }

  package static func decode<Value: Decodable>(
    _ type: Value.Type, from data: Data, within limits: JSONLimits
  ) throws(Problem) -> Value {
    try check(data, within: limits)
    return try decode(type, data)
  }

  private static func check(_ bytes: some Collection<UInt8>, within limits: JSONLimits) throws(Problem) {
    let count = bytes.count
    guard count <= limits.bytes else { throw .tooLarge(bytes: count, limit: limits.bytes) }
    let shape = JSONShape(bytes)
    guard shape.values <= limits.values, shape.depth <= limits.depth else {
      throw .tooMuch(values: shape.values, depth: shape.depth)
    }
    guard !shape.hasZero, shape.longestName <= limits.nameBytes, shape.longestRunInName <= limits.nameRunOutsideASCII
    else { throw .invalid(bytes: count) }
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(Problem) -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw .invalid(bytes: data.count)
    }
  }
}

/// The limits of a JSON text.
package struct JSONLimits: Sendable, Hashable {
  package var bytes: Int
  package var values: Int
  package var depth: Int
  /// The length of a name as written, and how many bytes in a row of it may be other than ASCII. No protocol here has names
  /// outside ASCII, but some messages have further values of other programs.
  package var nameBytes: Int
  package var nameRunOutsideASCII: Int

  package init(
    bytes: Int = .max, values: Int = .max, depth: Int = 8, nameBytes: Int = 256, nameRunOutsideASCII: Int = 0
  ) {
    self.bytes = bytes
    self.values = values
    self.depth = depth
    self.nameBytes = nameBytes
    self.nameRunOutsideASCII = nameRunOutsideASCII
  }
}
