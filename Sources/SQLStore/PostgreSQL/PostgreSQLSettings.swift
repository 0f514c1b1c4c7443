internal import CPostgreSQL
internal import Media
internal import OptionValues

/// Where the database is, and how many connections to it there are.
package struct PostgreSQLSettings: Sendable, Hashable {
  /// `postgresql://USER@HOST:PORT,HOST:PORT/NAME?sslmode=verify-full`, with what libpq takes, but for a password.
  package let url: String
  /// A file with the password and nothing else; nil: the database asks for none. It is read for each connection.
  package let passwordFile: String?
  /// The greatest number of connections.
  package private(set) var connections: Int
  /// Whether a further connection listens for notifications. A pooler in transaction mode passes none on.
  package private(set) var listens: Bool
  package var limits: Limits

  /// How long things may take.
  package struct Limits: Sendable, Hashable {
    /// How long a caller waits for a connection. When the database was away for longer, callers do not wait.
    package var patience = Duration.seconds(5)
    /// The maximum time of one statement, with its wait for locks.
    package var statement = Duration.seconds(8)
    /// The maximum time of a transaction with its repetitions.
    package var transaction = Duration.seconds(20)
    /// The time to connect to one host.
    package var connect = Duration.seconds(4)

    package init() {}
  }

  /// - Throws: an `SQLError` with a sentence that says what is wrong with the URL.
  package init(
    url: String, passwordFile: String? = nil, connections: Int = 4, listens: Bool = true, limits: Limits = Limits()
  ) throws(SQLError) {
    if let problem = Self.problem(url) { throw SQLError(.other, problem) }
    self.url = url
    self.passwordFile = passwordFile
    self.connections = min(max(connections, 1), 64)
    self.listens = listens
    self.limits = limits
  }

  /// One connection, with time for indexes of large tables.
  var forMigrations: PostgreSQLSettings {
    var settings = self
    settings.connections = 1
    settings.listens = false
    settings.limits.statement = .seconds(600)
    settings.limits.transaction = .seconds(1_200)
    return settings
  }

  /// What is wrong with a URL; nil if nothing is. The sentence shows no part of it, which may be a password.
  package static func problem(_ url: String) -> String? {
    guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
      return "The URL of the database begins with postgresql://."
    }
    guard !url.utf8.contains(0) else { return "The URL of the database cannot be read." }
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(url, &message) else {
      if let message { PQfreemem(message) }
      return "The URL of the database cannot be read: postgresql://USER@HOST:PORT/NAME?KEY=VALUE."
    }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      if option.pointee.val != nil {
        switch String(cString: keyword) {
        case "password", "sslpassword":
          return "The password of the database stands in a file (passwordFile), not in the URL."
        case "options": return "The URL of the database cannot have “options”: poolers do not pass them on."
        case "client_encoding": return "The URL of the database cannot have “client_encoding”: it is UTF-8."
        case "replication": return "The URL of the database cannot have “replication”."
        default: break
        }
      }
      option += 1
    }
    return nil
  }

  /// The number of hosts, each of which gets its own time to answer.
  var hostCount: Int {
    let host = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
    return 1 + host.utf8.count { $0 == UInt8(ascii: ",") }
  }

  /// The keywords and values of a connection. Those before `dbname` are defaults, which the URL may change.
  func parameters() throws(SQLError) -> [(String, String)] {
    let seconds = max(2, Int(min(limits.connect, limits.patience / hostCount).components.seconds))
    var parameters = [
      ("target_session_attrs", "read-write"), ("connect_timeout", "\(seconds)"), ("gssencmode", "disable"),
      ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "15000"), ("application_name", "chatbot-service"), ("dbname", url),
      ("client_encoding", "UTF8"),
    ]
    if let passwordFile {
      guard let bytes = try? BoundedFile.read(passwordFile, longest: 4_096),
        let text = String(validating: bytes, as: UTF8.self)
      else {
        throw SQLError(
          .unreachable, "The file with the database's password, \(passwordFile.printable()), cannot be read.")
      }
      let password = text.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
      guard !password.isEmpty, !password.utf8.contains(0) else {
        throw SQLError(.unreachable, "The file with the database's password, \(passwordFile.printable()), is empty.")
      }
      parameters.append(("password", password.utf8.last == UInt8(ascii: "\r") ? String(password.dropLast()) : password))
    }
    return parameters
  }
}
