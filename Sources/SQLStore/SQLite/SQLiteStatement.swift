internal import CSQLite

/// A prepared statement of ``SQLiteDatabase``.
struct SQLiteStatement {
  private let database: OpaquePointer
  private let handle: OpaquePointer
  private let columns: [String: Int]
  /// The positions of `$1`, `$2`, …: SQLite numbers parameters with names in the order in which they appear.
  private let positions: [Int32]

  init(_ text: String, of database: OpaquePointer) throws {
    var prepared: OpaquePointer?
    let result = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard result == SQLITE_OK, let prepared else {
      throw SQLError(code: result, "The statement is not understood", database)
    }
    self.database = database
    handle = prepared
    let names = (0..<sqlite3_column_count(prepared)).map { index in
      sqlite3_column_name(prepared, index).map { String(cString: $0) } ?? ""
    }
    columns = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let count = sqlite3_bind_parameter_count(prepared)
    positions = (0..<count).map { sqlite3_bind_parameter_index(prepared, "$\($0 + 1)") }
    if positions.contains(0) {
      finalize()
      throw SQLError(.other, "The parameters of a statement are $1, $2, … without holes.")
    }
  }

  func finalize() { sqlite3_finalize(handle) }

  func run(_ parameters: [SQLValue]) throws -> [SQLRow] {
    guard parameters.count == positions.count else {
      throw SQLError(.other, "The statement has \(positions.count) parameters, and \(parameters.count) are given.")
    }
    defer {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }
    for (position, parameter) in zip(positions, parameters) { try bind(parameter, at: position) }
    var rows: [SQLRow] = []
    while true {
      let result = sqlite3_step(handle)
      switch result {
      case SQLITE_DONE: return rows
      case SQLITE_ROW: rows.append(SQLRow(columns: columns, values: (0..<sqlite3_column_count(handle)).map(value)))
      default: throw SQLError(code: result, "The statement failed", database)
      }
    }
  }

  private func bind(_ value: SQLValue, at position: Int32) throws {
    let result: Int32
    switch value {
    case .null: result = sqlite3_bind_null(handle, position)
    case .integer(let number): result = sqlite3_bind_int64(handle, position, number)
    case .real(let number): result = sqlite3_bind_double(handle, position, number)
    case .text(var text):
      result = text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          // A null pointer would be NULL.
          guard let start = characters.baseAddress else { return chatbot_sqlite3_bind_text(handle, position, "", 0) }
          return chatbot_sqlite3_bind_text(handle, position, start, UInt64(characters.count))
        }
      }
    case .blob(let bytes):
      result = bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, position, 0) }
        return chatbot_sqlite3_bind_blob(handle, position, start, UInt64(bytes.count))
      }
    }
    if result != SQLITE_OK { throw SQLError(code: result, "A parameter is refused", database) }
  }

  private func value(at index: Int32) -> SQLValue {
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
    case SQLITE_TEXT:
      // The pointer first: it may convert, which changes the count.
      guard let start = sqlite3_column_text(handle, index) else { return .text("") }
      let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
      return .text(String(decoding: bytes, as: UTF8.self))
    case SQLITE_BLOB:
      guard let start = sqlite3_column_blob(handle, index) else { return .blob([]) }
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))))
    default: return .null
    }
  }
}

extension SQLError {
  /// - Parameter code: the extended result code.
  init(code: Int32, _ sentence: String, _ database: OpaquePointer?) {
    let reason = database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    let kind: Kind
    switch code & 0xFF {
    case SQLITE_CONSTRAINT: kind = .constraint
    case SQLITE_BUSY, SQLITE_LOCKED: kind = .busy
    case SQLITE_FULL: kind = .full
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_PERM: kind = .storage
    default: kind = .other
    }
    self.init(kind, "\(sentence): \(reason.map { String(cString: $0) } ?? "error \(code)").")
  }
}
