internal import CPostgreSQL
internal import Glibc
internal import Media

/// A connection of libpq to the server or to a pooler, for one thread. It is not Sendable: a worker of ``PostgreSQLConnection`` makes
/// it on its thread and leaves it there.
///
/// It prepares no statements, sets nothing for its session and takes no locks beyond transactions, so that each transaction may run
/// on another connection of a pooler. Each statement has a deadline; a session that let one pass is used no more.
final class PostgreSQLSession: SQLTransaction {
  /// Why a statement failed, as far as it matters for what is tried again.
  enum Fault: Sendable, Hashable {
    /// Another transaction was in the way: the transaction took no effect and may succeed when it is tried again.
    case conflict
    /// The connection is lost or refuses to write. Whether the last statement took effect is not known.
    case lost
  }

  let dialect = SQLDialect.postgreSQL
  /// The fault of the last statement.
  private(set) var fault: Fault?
  /// When the transaction must have ended.
  var deadline = MonotonicInstant.now
  /// Which outages of the pool's connections came before this one was made.
  let generation: Int

  private let handle: OpaquePointer
  private let limits: PostgreSQLSettings.Limits
  /// The statements as PostgreSQL takes them.
  private var translations: [String: String] = [:]
  private static let maximumTranslations = 512

  /// Connects. Blocks, for each host at most the time to connect.
  init(_ settings: PostgreSQLSettings, generation: Int) throws(SQLError) {
    limits = settings.limits
    self.generation = generation
    let parameters = try settings.parameters()
    let connected = Self.withPointers(parameters.map(\.0)) { keywords in
      Self.withPointers(parameters.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
    }
    guard let connected else {
      throw SQLError(.unreachable, "The memory does not suffice for a connection to the database.")
    }
    handle = connected
    // The object exists from here on, and deinit closes the connection when something below fails.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    guard PQstatus(handle) == CONNECTION_OK else {
      throw SQLError(.unreachable, "The database cannot be reached: \(Self.sentence(PQerrorMessage(handle)))")
    }
    let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) }
    if let encoding, encoding != "UTF8" {
      throw SQLError(.storage, "The encoding of the database is \(encoding.printable(utf8Bytes: 40)) and must be UTF8.")
    }
    guard PQsetnonblocking(handle, 1) == 0 else {
      throw SQLError(.unreachable, "The connection to the database failed.")
    }
  }

  deinit { PQfinish(handle) }

  /// How often it is read what arrived without a question. A server that sends more is not used.
  private static let maximumReads = 100

  /// Whether the connection can be used, as far as is known without a question to the server.
  var isAlive: Bool {
    guard fault != .lost, PQstatus(handle) == CONNECTION_OK, PQtransactionStatus(handle) == PQTRANS_IDLE else {
      return false
    }
    var file = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    // What arrives without a question is a notice, a notification or the end of the connection. The server says why it ends the
    // connection: only what is read after that is the end.
    for _ in 0..<Self.maximumReads {
      guard poll(&file, 1, 0) > 0 else {
        forgetNotifications()
        return PQstatus(handle) == CONNECTION_OK
      }
      if PQconsumeInput(handle) == 0 { return false }
    }
    return false
  }

  // MARK: Statements

  @discardableResult
  func execute(_ statement: String, _ parameters: [SQLValue]) throws -> [SQLRow] {
    fault = nil
    let end = min(deadline, .now + limits.statement)
    let text = translated(statement)
    let values = PostgreSQLParameters(parameters)
    let isSent = values.withPointers { types, values, lengths, formats in
      PQsendQueryParams(handle, text, Int32(parameters.count), types, values, lengths, formats, 0)
    }
    guard isSent == 1 else { throw lost(PQerrorMessage(handle)) }
    return try result(by: end, cancels: true)?.rows() ?? []
  }

  /// Runs statements without parameters in one exchange.
  ///
  /// - Returns: the tag of the last command, like `COMMIT`.
  private func command(_ statements: String, by end: MonotonicInstant, cancels: Bool) throws(SQLError) -> String {
    fault = nil
    guard PQsendQuery(handle, statements) == 1 else { throw lost(PQerrorMessage(handle)) }
    return try result(by: end, cancels: cancels)?.tag ?? ""
  }

  private func translated(_ statement: String) -> String {
    if let known = translations[statement] { return known }
    let text = dialect.translated(statement)
    if translations.count >= Self.maximumTranslations { translations.removeAll() }
    translations[statement] = text
    return text
  }

  // MARK: Transactions

  /// Begins a transaction that the server ends by itself when this process stands still, so that its locks never stop others for
  /// long. The server ends a statement before this side ceases to wait for it, so that the connection is kept and the error has its
  /// true cause.
  func begin() throws(SQLError) {
    let milliseconds = max(1, Int64(clamping: limits.statement.attoseconds / 1_000_000_000_000_000))
    _ = try command(
      """
      BEGIN ISOLATION LEVEL READ COMMITTED;
      SET LOCAL statement_timeout = \(max(1, milliseconds * 3 / 4));
      SET LOCAL idle_in_transaction_session_timeout = \(milliseconds)
      """, by: min(deadline, .now + limits.statement), cancels: false)
  }

  func commit() throws(SQLError) {
    guard PQtransactionStatus(handle) != PQTRANS_INERROR else {
      throw SQLError(.other, "A statement of the transaction failed, and the transaction goes on.")
    }
    let tag = try command("COMMIT", by: .now + limits.statement, cancels: false)
    guard tag == "COMMIT" else { throw SQLError(.other, "The transaction was undone.") }
  }

  /// Undoes the transaction, if the connection lives.
  func rollBack() {
    let fault = fault
    guard fault != .lost, PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
    do {
      _ = try command("ROLLBACK", by: .now + limits.statement, cancels: false)
      self.fault = fault
    } catch {
      self.fault = .lost
    }
  }

  // MARK: Results

  /// Waits for the last result of what was sent.
  ///
  /// - Parameter cancels: whether the server is asked to stop what is not done in time.
  private func result(by end: MonotonicInstant, cancels: Bool) throws(SQLError) -> PostgreSQLResult? {
    var last: PostgreSQLResult?
    var failure: SQLError?
    while true {
      try receive(by: end, cancels: cancels)
      guard let pointer = PQgetResult(handle) else { break }
      let result = PostgreSQLResult(pointer)
      switch result.status {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: last = result
      case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
        if failure == nil { failure = note(result) }
      default:
        // A statement that copies would need an answer.
        throw lost(nil)
      }
    }
    if PQstatus(handle) != CONNECTION_OK { fault = .lost }
    if let failure {
      throw fault == .lost && failure.kind != .unreachable ? SQLError(.unreachable, failure.description) : failure
    }
    return last
  }

  /// Waits until a result, or the end of all, is here.
  private func receive(by end: MonotonicInstant, cancels: Bool) throws(SQLError) {
    while true {
      let unsent = PQflush(handle)
      if unsent < 0 { throw lost(PQerrorMessage(handle)) }
      if unsent == 0, PQisBusy(handle) == 0 { return }
      let left = end - .now
      guard left > .zero else {
        if cancels { cancel() }
        throw lost(nil)
      }
      var file = pollfd(
        fd: PQsocket(handle), events: Int16(unsent > 0 ? POLLIN | POLLOUT : POLLIN), revents: 0)
      let count = poll(&file, 1, Self.milliseconds(left))
      if count < 0, errno != EINTR { throw lost(nil) }
      if count > 0, file.revents & ~Int16(POLLOUT) != 0, PQconsumeInput(handle) == 0 {
        throw lost(PQerrorMessage(handle))
      }
    }
  }

  /// Asks the server to stop the statement, on a thread of its own: the question needs a connection, which may not come about.
  private func cancel() {
    guard let request = PQgetCancel(handle) else { return }
    let address = UInt(bitPattern: request)
    let isStarted = DedicatedThread.start("cancel") {
      var reason = [CChar](repeating: 0, count: 256)
      let request = OpaquePointer(bitPattern: address)
      PQcancel(request, &reason, 256)
      PQfreeCancel(request)
    }
    if !isStarted { PQfreeCancel(request) }
  }

  private func note(_ result: PostgreSQLResult) -> SQLError {
    let (error, fault) = result.error
    self.fault = fault
    return error
  }

  private func lost(_ message: UnsafePointer<CChar>?) -> SQLError {
    fault = .lost
    let reason = message.map { Self.sentence($0) } ?? "it did not answer in time."
    return SQLError(.unreachable, "The connection to the database was lost: \(reason)")
  }

  // MARK: Notifications

  /// Waits for notifications.
  ///
  /// - Returns: what was sent with them; nil if the connection is lost.
  func notifications(atMost time: Duration) -> Set<String>? {
    let end = MonotonicInstant.now + time
    while true {
      guard PQconsumeInput(handle) == 1 else { return nil }
      var payloads: Set<String> = []
      while let notification = PQnotifies(handle) {
        if payloads.count < 100 { payloads.insert(String(cString: notification.pointee.extra)) }
        PQfreemem(notification)
      }
      if !payloads.isEmpty { return payloads }
      let left = end - .now
      guard left > .zero else { return [] }
      var file = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      if poll(&file, 1, Self.milliseconds(left)) < 0, errno != EINTR { return nil }
    }
  }

  /// A time for poll(2), rounded up.
  private static func milliseconds(_ time: Duration) -> Int32 {
    min(Int32(clamping: time.attoseconds / 1_000_000_000_000_000), 60_000) + 1
  }

  private func forgetNotifications() {
    while let notification = PQnotifies(handle) { PQfreemem(notification) }
  }

  // MARK: C strings

  /// What libpq says, as one line that ends with a full stop.
  static func sentence(_ message: UnsafePointer<CChar>?) -> String {
    let text = message.map { String(cString: $0) } ?? ""
    let lines = text.split(whereSeparator: \.isNewline).map { line in
      line.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
    let line = lines.joined(separator: " ").printable(utf8Bytes: 500)
    if line.isEmpty { return "no reason is known." }
    return line.hasSuffix(".") || line.hasSuffix("?") ? line : line + "."
  }

  /// Calls `body` with an array of C strings that ends with a null pointer.
  private static func withPointers<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
