package import Media

/// A JSON value with the place where it begins in its text, for files that people write: an error can say where it is.
package struct LocatedJSON: Sendable, Hashable {
  package let location: TextLocation
  package let value: Value

  package enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(UntrustedText)
    case array([LocatedJSON])
    case object([Member])
  }

  package struct Member: Sendable, Hashable {
    /// Where the name is.
    package let location: TextLocation
    package let name: UntrustedText
    package let value: LocatedJSON
  }

  /// Reads a text of JSON (RFC 8259). A name that an object has twice is an error.
  ///
  /// - Parameter limits: of the size, the values and the depth.
  package init(parsing bytes: some Collection<UInt8>, within limits: JSONLimits) throws(Problem) {
    guard bytes.count <= limits.bytes else {
      throw Problem(location: .start, sentence: "The file has more than \(limits.bytes) bytes.")
    }
    var parser = LocatedJSONParser(bytes, limits: limits)
    self = try parser.document()
  }

  init(location: TextLocation, value: Value) {
    (self.location, self.value) = (location, value)
  }

  /// Why a text is refused, and where.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    package let location: TextLocation
    /// A sentence for people.
    package let sentence: String

    package init(location: TextLocation, sentence: String) {
      (self.location, self.sentence) = (location, sentence)
    }

    /// For example `line 3, column 14: Expected a comma or "}".`
    package var description: String { "\(location): \(sentence)" }
  }
}

/// A place in a text: the line and, in Unicode scalars, the column, both from 1.
package struct TextLocation: Sendable, Hashable, Comparable, CustomStringConvertible {
  package var line: Int
  package var column: Int

  package static let start = TextLocation(line: 1, column: 1)

  package init(line: Int, column: Int) {
    (self.line, self.column) = (line, column)
  }

  package static func < (one: Self, other: Self) -> Bool { (one.line, one.column) < (other.line, other.column) }

  /// For example `line 3, column 14`.
  package var description: String { "line \(line), column \(column)" }
}
