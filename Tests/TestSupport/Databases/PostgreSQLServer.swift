import Foundation
import Synchronization

/// A server of PostgreSQL in a temporary folder, on loopback, as the user `postgres` if this process is root. It ends with this
/// process, and its folder goes with it.
public final class PostgreSQLServer: Sendable {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  private static let programs = "/usr/lib/postgresql/15/bin"

  /// Whether the server is installed (Debian `postgresql-15`).
  public static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "\(programs)/postgres") }

  /// One server for all tests of this process that do not stop it.
  public static let shared = Result { try PostgreSQLServer() }

  /// The folder of the server's sockets and data.
  public let folder: String
  public let port: Int
  /// The words before each command, which run it in another network; none: in that of this process.
  private let prefix: [String]
  private let process = Mutex<Process?>(nil)
  private let numbers = Mutex(0)

  /// Makes the folder and starts the server, in about a second.
  ///
  /// - Parameters:
  ///   - settings: further settings, like `max_connections=20`.
  ///   - primary: a server whose standby this is, until it is promoted; nil: it has data of its own.
  ///   - prefix: the words before each command, which run it in another network.
  ///   - port: one that is free in that network; nil: one of this network.
  public init(
    settings: [String] = [], standbyOf primary: PostgreSQLServer? = nil, prefix: [String] = [], port wanted: Int? = nil
  ) throws {
    self.prefix = prefix
    folder = "/tmp/pg-\(UUID().uuidString.prefix(8).lowercased())"
    port = try wanted ?? ServerPort.unused()
    try start(settings, primary: primary)
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Starts the server again after ``stop(_:)``.
  public func start(settings: [String] = []) throws { try start(settings, primary: nil) }

  private func start(_ settings: [String], primary: PostgreSQLServer?) throws {
    // Not dash: its `wait` hangs where the thread that starts it blocks SIGCHLD.
    let script = """
      set -eu
      folder=$1; programs=$2; primary=$3; shift 3
      as() {
        if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; fi
        exec "$@"
      }
      if [ ! -d "$folder/data" ]; then
        mkdir -p "$folder"
        [ "$(id -u)" != 0 ] || chown postgres "$folder"
        cd "$folder"
        if [ -n "$primary" ]; then
          (as "$programs/pg_basebackup" -h 127.0.0.1 -p "$primary" -U chatbot -D data -R -X stream -c fast --no-sync) \\
            >"$folder/initdb.log" 2>&1
        else
          (as "$programs/initdb" --pgdata data --auth trust --username chatbot --encoding UTF8 --locale C.UTF-8 --no-sync) \\
            >"$folder/initdb.log" 2>&1
        fi
      fi
      cd "$folder"
      (as "$programs/postgres" -D data -k "$folder" "$@") >>"$folder/server.log" 2>&1 &
      server=$!
      # Until the process that started this ends, or closes the pipe.
      read -r how || how=INT
      kill -s "$how" "$server" 2>/dev/null || true
      wait "$server" || true
      [ "$how" != INT ] || [ -e "$folder/keep" ] || rm -rf "$folder"
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let fixed = [
      "listen_addresses=127.0.0.1", "port=\(port)", "fsync=off", "full_page_writes=off", "shared_buffers=32MB",
      "max_connections=150", "deadlock_timeout=200ms", "log_min_messages=warning", "autovacuum=off",
    ]
    process.arguments =
      prefix + ["/bin/bash", "-c", script, "bash", folder, Self.programs, primary.map { "\($0.port)" } ?? ""]
      + (fixed + settings).flatMap { ["-c", $0] }
    process.standardInput = Pipe()
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process.withLock { $0 = process }
    let deadline = Date().addingTimeInterval(30)
    while Date() < deadline {
      let ready = try? tool(["\(Self.programs)/pg_isready", "-q", "-h", "127.0.0.1", "-p", "\(port)"])
      if ready?.status == 0 { return }
      if !process.isRunning { break }
      usleep(30_000)
    }
    let log = try? String(contentsOfFile: "\(folder)/server.log", encoding: .utf8)
    throw Failure(description: "PostgreSQL did not start: \(log?.suffix(500) ?? "")")
  }

  /// Ends the server and keeps its data.
  ///
  /// - Parameter signal: `INT` ends it in order at once, `QUIT` leaves a crash behind.
  public func stop(_ signal: String = "INT") {
    guard
      let process = process.withLock({ process in
        defer { process = nil }
        return process
      })
    else { return }
    if let pipe = process.standardInput as? Pipe {
      _ = FileManager.default.createFile(atPath: "\(folder)/keep", contents: nil)
      pipe.fileHandleForWriting.write(Data("\(signal)\n".utf8))
      try? pipe.fileHandleForWriting.close()
    }
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: "\(folder)/keep")
  }

  /// Makes an empty database.
  ///
  /// - Returns: its name.
  public func makeDatabase() throws -> String {
    let number = numbers.withLock { number in
      number += 1
      return number
    }
    let name = "test\(number)"
    try run("CREATE DATABASE \(name)")
    return name
  }

  /// Runs a statement with psql.
  ///
  /// - Returns: its rows, without names of columns.
  @discardableResult
  public func run(_ statement: String, database: String = "postgres") throws -> String {
    let result = try tool([
      "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url(database), "-c", statement,
    ])
    guard result.status == 0 else { throw Failure(description: result.errors) }
    return result.output.trimmingCharacters(in: .newlines)
  }

  /// Runs a program in the network of the server.
  private func tool(_ words: [String]) throws -> ExternalTool.Result {
    try ExternalTool.run("/usr/bin/env", prefix + words)
  }

  public func url(_ database: String) -> String { "postgresql://chatbot@127.0.0.1:\(port)/\(database)" }
}

/// A pooler before a server, in transaction mode: each transaction may run on another connection of the server.
public final class PostgreSQLPooler: Sendable {
  public static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/sbin/pgbouncer") }

  /// One before ``PostgreSQLServer/shared``.
  public static let shared = Result { try PostgreSQLPooler(before: PostgreSQLServer.shared.get()) }

  public let port: Int
  private let folder: URL
  private let process: Process

  /// - Parameter connections: how many connections to each database of the server there are.
  public init(before server: PostgreSQLServer, connections: Int = 3) throws {
    port = try ServerPort.unused()
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("pgbouncer-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let settings = """
      [databases]
      * = host=127.0.0.1 port=\(server.port)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port)
      unix_socket_dir =
      auth_type = trust
      auth_file = \(folder.path)/users
      pool_mode = transaction
      default_pool_size = \(connections)
      server_idle_timeout = 2
      max_client_conn = 200
      logfile =
      """
    let file = folder.appendingPathComponent("pgbouncer.ini")
    try Data(settings.utf8).write(to: file)
    try Data("\"chatbot\" \"\"\n".utf8).write(to: folder.appendingPathComponent("users"))
    let script = """
      if [ "$(id -u)" = 0 ]; then
        chown -R postgres "$1"
        set -- "$1" setpriv --reuid=postgres --regid=postgres --clear-groups
      else
        set -- "$1"
      fi
      folder=$1; shift
      "$@" /usr/sbin/pgbouncer "$folder/pgbouncer.ini" >"$folder.log" 2>&1 &
      pooler=$!
      read -r end
      # It inherits the blocked signals of the thread that starts it, and waits for its server when it may end in order.
      kill -s KILL "$pooler"
      wait "$pooler"
      rm -rf "$folder" "$folder.log"
      """
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script, "bash", folder.path]
    process.standardInput = Pipe()
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let deadline = Date().addingTimeInterval(15)
    while Date() < deadline, process.isRunning {
      let ready = try? ExternalTool.run("psql", ["-X", "-q", "-d", url("postgres"), "-c", "SELECT 1"])
      if ready?.status == 0 { return }
      usleep(50_000)
    }
    let log = try? String(contentsOfFile: "\(folder.path).log", encoding: .utf8)
    throw PostgreSQLServer.Failure(description: "pgbouncer did not start: \(log?.suffix(500) ?? "")")
  }

  deinit {
    try? (process.standardInput as? Pipe)?.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  public func url(_ database: String) -> String { "postgresql://chatbot@127.0.0.1:\(port)/\(database)" }
}
