import Foundation

/// The folder of a job, which the built program runs.
struct JobFolder: Sendable {
  let url: URL

  /// Creates the folder with its specification.
  ///
  /// - Parameter values: added to a specification that records the room 100.
  init(in scenario: Scenario, named name: String, server: Server, _ values: [String: JSON] = [:]) async throws {
    url = scenario.folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let specification: [String: JSON] = [
      "protocol": 1, "job": .string(name), "attemptID": "a1", "kind": "record", "room": "100",
      "server": ["url": .string(server.address)],
    ]
    let json = try JSON.object(specification.merging(values) { $1 }).text
    try Data(json.utf8).write(to: url.appendingPathComponent("spec.json"))
  }

  /// Starts the process, by a shell that goes on beside it if `inBackground`.
  func start(in scenario: Scenario, secrets: String = "", inBackground: Bool = false) async throws -> ChildProcess {
    let job = "'\(try BuiltProgram.path())' job '\(url.path)'"
    // The arguments of a shell are no secret of this test.
    let command =
      inBackground
      ? "printf '%s' '\(secrets)' | \(job) > /dev/null 2>&1 & sleep 600" : "printf '%s' '\(secrets)' | exec \(job)"
    return try await scenario.program(url.lastPathComponent, ["sh", "-c", command])
  }

  /// The entries of the journal so far; an incomplete last line is left out.
  func journal() throws -> [JSON] {
    let text = (try? String(contentsOf: url.appendingPathComponent("journal.ndjson"), encoding: .utf8)) ?? ""
    return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      try JSON(parsing: String($0))
    }
  }

  /// Waits until an entry of a type is in the journal.
  @discardableResult
  func entry(_ type: String, within limit: Duration = .seconds(15)) async throws -> JSON {
    try await eventually("entry \(type) of the journal", within: limit) {
      try journal().first { $0["type"].string == type }
    }
  }

  /// Whether a process has the lock.
  var isLocked: Bool {
    let file = open(url.appendingPathComponent("lock").path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) != 0
  }

  /// Sends requests to the control socket, and returns the answers. It connects by a path that is relative to the folder.
  func ask(_ requests: [JSON]) throws -> [JSON] {
    let script = """
      import os, socket, sys
      os.chdir(sys.argv[1])
      control = socket.socket(socket.AF_UNIX)
      control.settimeout(20)
      control.connect("control")
      lines = control.makefile("rw")
      for request in sys.argv[2:]:
          lines.write(request + "\\n")
          lines.flush()
          print(lines.readline(), end="")
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, url.path] + (try requests.map { try $0.text })
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return try text.split(separator: "\n").map { try JSON(parsing: String($0)) }
  }

  /// All bytes of all files.
  func everything() throws -> Data {
    let names = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
    return names.reduce(into: Data()) { $0 += (try? Data(contentsOf: url.appendingPathComponent($1))) ?? Data() }
  }
}
