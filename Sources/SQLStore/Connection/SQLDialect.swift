/// What differs between the statements of the two databases: the expression for the current time, locks of rows, and types.
///
/// Everything else is the same text for both: parameters are `$1`, `$2`, …, the clock is `now_ms()`, truth values are integers.
/// A parameter whose type the place does not tell, as in `$1 IS NULL`, needs a `CAST($1 AS BIGINT)`: PostgreSQL refuses it without.
/// After a statement of a transaction failed, PostgreSQL refuses all further ones: what may fail by a constraint is looked for
/// before, or the whole transaction is tried again.
package enum SQLDialect: Sendable, Hashable, CaseIterable {
  case sqlite
  case postgreSQL

  /// The end of a `SELECT` in a transaction that locks its rows until the end of the transaction, and leaves out those that
  /// another one has locked. Empty for SQLite, whose transactions never run at once.
  package var forUpdateSkipLocked: String { self == .postgreSQL ? "FOR UPDATE SKIP LOCKED" : "" }

  /// The end of a `SELECT` in a transaction that locks its rows until the end of the transaction, and waits for those that
  /// another one has locked. Empty for SQLite.
  ///
  /// Rows are locked in this order, so that no two transactions wait for each other: jobs by id, attempts, counters.
  package var forUpdate: String { self == .postgreSQL ? "FOR UPDATE" : "" }

  /// The statement that keeps other transactions from changing a table until the end of this one; nil where none can.
  func lock(table: String) -> String? { self == .postgreSQL ? "LOCK TABLE \(table) IN EXCLUSIVE MODE" : nil }

  /// A statement as the database takes it.
  ///
  /// - The clock in milliseconds since 1970 is that at the beginning of the statement. PostgreSQL gets an expression and no
  ///   function, because an index serves a comparison with it, and because nothing must be made before it can be used.
  /// - Texts are compared and sorted by their bytes, as SQLite does it, whatever the locale of the database is.
  func translated(_ statement: String) -> String {
    guard self == .postgreSQL else { return statement }
    let text = Self.replacing("now_ms()", in: statement) {
      _ in "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)"
    }
    guard text.hasPrefix("CREATE TABLE") || text.hasPrefix("ALTER TABLE") else { return text }
    return Self.replacing(" TEXT", in: text) { next in
      switch next {
      case nil, UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: ")"), UInt8(ascii: "\n"): #" TEXT COLLATE "C""#
      default: nil
      }
    }
  }

  /// Replaces each occurrence of a word.
  ///
  /// - Parameter replacement: gets the byte after the word; nil: it stays.
  private static func replacing(_ word: String, in text: String, by replacement: (UInt8?) -> String?) -> String {
    let (word, bytes) = (Array(word.utf8), Array(text.utf8))
    guard bytes.count >= word.count else { return text }
    var result: [UInt8] = []
    var (start, index) = (0, 0)
    while index + word.count <= bytes.count {
      guard bytes[index] == word[0], bytes[index..<(index + word.count)].elementsEqual(word) else {
        index += 1
        continue
      }
      let end = index + word.count
      if let new = replacement(end < bytes.count ? bytes[end] : nil) {
        result += bytes[start..<index]
        result += new.utf8
        start = end
      }
      index = end
    }
    if start == 0, result.isEmpty { return text }
    return String(decoding: result + bytes[start...], as: UTF8.self)
  }
}
