import Foundation
import TestSupport

/// What a service of the tests keeps its jobs and files in: SQLite and a folder, or, where the variable `CHATBOT_SERVICE_BACKENDS` is
/// `cluster`, PostgreSQL and S3. `make service` runs the tests with both.
enum ServiceBackends {
  static let areOfCluster = ProcessInfo.processInfo.environment["CHATBOT_SERVICE_BACKENDS"] == "cluster"

  /// A bucket of a service: moto behind a proxy that writes each object into a folder as well, where the tests look at it.
  struct Bucket: Sendable {
    let folder: URL
    /// Lines of the configuration.
    let settings: String
  }

  struct NotStarted: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts the store of a service. Without the Python packages the tests fail: who asks for these backends has them.
  static func bucket(_ scenario: Scenario, name: String) async throws -> Bucket {
    guard let python = ProcessInfo.processInfo.environment["CHATBOT_MOTO_PYTHON"] else {
      throw NotStarted(description: "CHATBOT_MOTO_PYTHON names no interpreter with moto.")
    }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Interop/s3-folder.py").path
    let folder = scenario.folder.appendingPathComponent("\(name) bucket")
    // It ends with its input, which a shell keeps open.
    let process = try await scenario.program(
      "\(name) store", ["sh", "-c", #"sleep 3600 | exec "$@""#, "sh", python, "-u", script, folder.path, "recordings"])
    let answer = try await eventually("store of S3", within: .seconds(20)) { () -> JSON? in
      guard process.isRunning else { throw NotStarted(description: process.output) }
      let line = process.output.split(separator: "\n").first { $0.hasPrefix("{") }
      return try line.map { try JSON(parsing: String($0)) }
    }
    let credentials = scenario.folder.appendingPathComponent("\(name)/credentials")
    let (key, secret) = (answer["key"].string ?? "", answer["secret"].string ?? "")
    try "[default]\naws_access_key_id=\(key)\naws_secret_access_key=\(secret)\n"
      .write(to: credentials, atomically: true, encoding: .utf8)
    return Bucket(
      folder: folder,
      settings: """
        store: {url: "s3://recordings", endpoint: "\(answer["endpoint"].string ?? "")", credentialsFile: "\(credentials.path)"}
        retention: {local: 1s}
        """)
  }

  /// Lines of the configuration with a database of its own.
  static func database() throws -> String {
    let server = try PostgreSQLServer.shared.get()
    return "node: a\ndatabase: {url: \"\(server.url(try server.makeDatabase()))\"}"
  }
}
