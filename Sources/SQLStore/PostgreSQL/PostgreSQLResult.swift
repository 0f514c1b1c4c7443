internal import CPostgreSQL
internal import Media

/// A result of libpq, which is freed at its end.
final class PostgreSQLResult {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { PQclear(pointer) }

  var status: ExecStatusType { PQresultStatus(pointer) }

  /// The tag of the command, like `COMMIT`.
  var tag: String { PQcmdStatus(pointer).map { String(cString: $0) } ?? "" }

  /// The rows, which are in the text format.
  func rows() throws(SQLError) -> [SQLRow] {
    let result = pointer
    let columnCount = PQnfields(result)
    let names = (0..<columnCount).map { index in PQfname(result, index).map { String(cString: $0) } ?? "" }
    let types = (0..<columnCount).map { PQftype(result, $0) }
    let columns = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var rows: [SQLRow] = []
    let rowCount = PQntuples(result)
    rows.reserveCapacity(Int(rowCount))
    for row in 0..<rowCount {
      var values: [SQLValue] = []
      values.reserveCapacity(types.count)
      for (column, type) in zip(Int32(0)..., types) {
        values.append(try Self.value(of: result, row, column, type))
      }
      rows.append(SQLRow(columns: columns, values: values))
    }
    return rows
  }

  private static func value(
    of result: OpaquePointer, _ row: Int32, _ column: Int32, _ type: Oid
  ) throws(SQLError) -> SQLValue {
    guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return .null }
    let count = Int(PQgetlength(result, row, column))
    let text = start.withMemoryRebound(to: UInt8.self, capacity: count) {
      String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
    }
    typealias ObjectID = PostgreSQLParameters.ObjectID
    switch type {
    case ObjectID.integer8, ObjectID.integer4, ObjectID.integer2, ObjectID.identifier:
      guard let number = Int64(text) else { throw .unexpected(name(result, column), nil) }
      return .integer(number)
    case ObjectID.boolean: return .truth(text == "t")
    case ObjectID.numeric:
      // A sum of integers.
      if let number = Int64(text) { return .integer(number) }
      return .real(Double(text) ?? .nan)
    case ObjectID.real4, ObjectID.real8: return .real(real(text))
    case ObjectID.bytes:
      var length = 0
      let unescaped = start.withMemoryRebound(to: UInt8.self, capacity: count + 1) { PQunescapeBytea($0, &length) }
      guard let bytes = unescaped else { throw .unexpected(name(result, column), nil) }
      defer { PQfreemem(bytes) }
      return .blob(Array(UnsafeBufferPointer(start: bytes, count: length)))
    default: return .text(text)
    }
  }

  private static func real(_ text: String) -> Double {
    switch text {
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    default: Double(text) ?? .nan
    }
  }

  private static func name(_ result: OpaquePointer, _ column: Int32) -> String {
    PQfname(result, column).map { String(cString: $0) } ?? ""
  }

  /// What a failed statement means (https://www.postgresql.org/docs/current/errcodes-appendix.html).
  var error: (error: SQLError, fault: PostgreSQLSession.Fault?) {
    // The state is five characters, `PG_DIAG_SQLSTATE` and `PG_DIAG_MESSAGE_PRIMARY` are characters of C.
    let state = PQresultErrorField(pointer, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    let primary = PQresultErrorField(pointer, Int32(UInt8(ascii: "M")))
    let reason = PostgreSQLSession.sentence((primary ?? PQresultErrorMessage(pointer)).map { UnsafePointer($0) })
    func error(_ kind: SQLError.Kind, _ sentence: String = "The statement failed") -> SQLError {
      SQLError(kind, "\(sentence): \(reason)")
    }
    switch state {
    case "": return (error(.unreachable, "The connection to the database was lost"), .lost)
    // Serialization failures and deadlocks.
    case "40001", "40P01": return (error(.busy), .conflict)
    // A wait for a lock, or a statement, was too long.
    case "55P03", "57014": return (error(.busy), nil)
    case "53100": return (error(.full), nil)
    // Another program has made the same table or its type at this moment.
    case "42710", "42P07": return (error(.constraint), nil)
    // A server that has become a standby, ends, begins, or has ended the transaction of a process that stood still.
    case "25006", "25P03", "53300", "57P01", "57P02", "57P03", "57P05":
      return (error(.unreachable, "The database refuses the connection"), .lost)
    default: break
    }
    switch state.prefix(2) {
    case "08": return (error(.unreachable, "The connection to the database was lost"), .lost)
    case "23": return (error(.constraint), nil)
    case "58", "XX": return (error(.storage), nil)
    default: return (error(.other), nil)
    }
  }
}
