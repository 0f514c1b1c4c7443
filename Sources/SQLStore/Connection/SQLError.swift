/// Why a statement or a connection failed.
package struct SQLError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// A unique index, a reference or a check does not allow it.
    case constraint
    /// Another transaction was in the way; the connection has tried again for some seconds.
    case busy
    /// The disk is full.
    case full
    /// The file cannot be opened, read or written, or is damaged.
    case storage
    /// The database cannot be reached, refuses to write, or did not answer in time. Whether a write took effect that was on its way
    /// is not known.
    case unreachable
    /// The schema is that of a later version of the program.
    case tooNew
    /// The connection was closed.
    case closed
    /// A wrong statement, a wrong type, or what else the database reports.
    case other
  }

  package let kind: Kind
  /// A sentence.
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  static let closed = SQLError(.closed, "The connection to the database is closed.")

  static func unexpected(_ column: String, _ value: SQLValue?) -> SQLError {
    switch value {
    case nil: SQLError(.other, "The result has no column \(column).")
    case .null?: SQLError(.other, "The column \(column) has no value.")
    default: SQLError(.other, "The column \(column) has a value of another type.")
    }
  }
}
