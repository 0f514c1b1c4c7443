/// A value in a row or a parameter of a statement. Truth values are the integers 0 and 1.
package enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  package static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
  package static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
  package static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
  package static func integer(_ value: Int) -> SQLValue { .integer(Int64(value)) }
  package static func truth(_ value: Bool) -> SQLValue { .integer(Int64(value ? 1 : 0)) }
}

/// A row of a result.
package struct SQLRow: Sendable, Hashable {
  /// The names of the columns and the positions of their values.
  private let columns: [String: Int]
  package let values: [SQLValue]

  package init(columns: [String: Int], values: [SQLValue]) {
    self.columns = columns
    self.values = values
  }

  /// The value of a column; nil if the result has no such column.
  package subscript(column: String) -> SQLValue? {
    guard let index = columns[column], values.indices.contains(index) else { return nil }
    return values[index]
  }

  package func integer(_ column: String) throws(SQLError) -> Int64 {
    guard case .integer(let value)? = self[column] else { throw .unexpected(column, self[column]) }
    return value
  }

  package func optionalInteger(_ column: String) throws(SQLError) -> Int64? {
    self[column] == .null ? nil : try integer(column)
  }

  package func truth(_ column: String) throws(SQLError) -> Bool { try integer(column) != 0 }

  package func text(_ column: String) throws(SQLError) -> String {
    guard case .text(let value)? = self[column] else { throw .unexpected(column, self[column]) }
    return value
  }

  package func optionalText(_ column: String) throws(SQLError) -> String? {
    self[column] == .null ? nil : try text(column)
  }

  package func optionalBlob(_ column: String) throws(SQLError) -> [UInt8]? {
    switch self[column] {
    case .null?: return nil
    case .blob(let bytes)?: return bytes
    default: throw .unexpected(column, self[column])
    }
  }
}
