/// A row of `commands`: what somebody asks of a job, and what became of it.
package struct CommandRecord: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case stop
    case pause
    case resume
  }

  /// Grows with each command of the database.
  package var id: Int64
  package var job: JobID
  package var kind: Kind
  /// A JSON object.
  package var argument: String
  package var createdAt: Int64
  package var doneAt: Int64?
  /// A JSON object; nil until it is done.
  package var result: String?

  /// - Parameter row: has all columns of `commands`.
  package init(_ row: SQLRow) throws(SQLError) {
    id = try row.integer("id")
    job = try JobID(column: "job", of: row)
    guard let kind = Kind(rawValue: try row.text("kind")) else { throw .unexpected("kind", row["kind"]) }
    self.kind = kind
    argument = try row.text("argument")
    createdAt = try row.integer("created_at")
    doneAt = try row.optionalInteger("done_at")
    result = try row.optionalText("result")
  }
}
