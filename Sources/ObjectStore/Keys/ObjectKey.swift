/// The name of an object: parts between slashes, of ASCII. It is safe as a path and in a URL.
package struct ObjectKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The longest key of S3, and the longest name of a file.
  package static let maximumBytes = 1_024
  package static let maximumPartBytes = 255

  package let text: String

  /// - Parameter text: parts of letters, digits, `-`, `_`, `.` and `=` between slashes, none of which is empty or begins with a
  ///   dot; nil for another one.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let first = part.first, first != UInt8(ascii: "."), part.count <= Self.maximumPartBytes,
        part.allSatisfy({ KeyText.isPlain($0) || $0 == UInt8(ascii: "=") })
      else { return nil }
    }
    self.text = text
  }

  /// Returns the key with further parts, or nil if it would be too long or a part is no part.
  package func appending(_ parts: String...) -> ObjectKey? {
    ObjectKey(([text] + parts).joined(separator: "/"))
  }

  /// Whether the key is below another one.
  package func isBelow(_ prefix: ObjectKey) -> Bool { text.utf8.starts(with: (prefix.text + "/").utf8) }

  package static func < (one: Self, other: Self) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }

  package var description: String { text }
}
