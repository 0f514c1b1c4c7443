/// The id of a job: 20 digits and small letters, of 100 random bits. It is a part of URLs, folders and keys of objects.
package struct JobID: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  /// - Parameter text: from 1 to 40 digits and small letters of ASCII; nil for another one.
  package init?(_ text: String) {
    let isDigits = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    guard isDigits, (1...40).contains(text.utf8.count) else { return nil }
    self.text = text
  }

  private init(random count: Int) { text = Self.randomText(count) }

  package static func random() -> JobID { JobID(random: 20) }

  /// Returns random digits and small letters, of 5 bits each. `i`, `l`, `o` and `u` are left out (Crockford's base 32).
  package static func randomText(_ count: Int) -> String {
    var source = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    return String((0..<count).map { _ in digits[Int.random(in: 0..<32, using: &source)] })
  }

  package var description: String { text }

  package var value: SQLValue { .text(text) }

  init(column: String, of row: SQLRow) throws(SQLError) {
    guard let id = JobID(try row.text(column)) else { throw .unexpected(column, row[column]) }
    self = id
  }
}
