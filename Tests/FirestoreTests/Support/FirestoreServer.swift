import Firestore
import Foundation
import HTTPTransport
import Logging
import Media
import NIOCore
import NIOHTTP1
import NIOPosix
import Signalling

/// `Tests/Interop/firestore-server.py` on a free port of this machine, until the test ends.
final class FirestoreServer: Sendable {
  enum Failure: Error { case doesNotStart(String) }

  let port: Int
  private let process: Process
  private let input: Pipe
  private let http = HTTPClient()

  var url: String { "http://127.0.0.1:\(port)" }

  init(port: Int = 0) throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Interop/firestore-server.py").path
    process = Process()
    input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // It ends by itself at the end of its input, and after two minutes in any case.
    process.arguments = ["timeout", "120", "python3", script, "--port", "\(port)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let start = line.firstIndex(where: \.isNumber),
      let found = Int(line[start...].prefix { $0.isNumber })
    else { throw Failure.doesNotStart(line) }
    self.port = found
  }

  deinit { stop() }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Changes the server's behaviour, and returns its documents and counts as JSON.
  @discardableResult
  func control(_ json: String? = nil) async throws -> String {
    let url = try HTTPURL(url + "/control")
    return try await http.send(HTTPRequest(json == nil ? .GET : .POST, url, body: json.map { ByteBuffer(string: $0) }))
      .text
  }

  /// The paths and fields of all documents, as JSON.
  func documents() async throws -> String {
    let state = try await control()
    return state.firstRange(of: ", \"requests\"").map { String(state[..<$0.lowerBound]) } ?? state
  }

  var options: FirestoreClient.Options {
    var options = FirestoreClient.Options()
    options.server = url
    options.identityServer = url
    options.tokenServer = url
    options.minimumRetryDelay = .milliseconds(50)
    options.maximumRetryDelay = .milliseconds(200)
    return options
  }

  /// The credentials of a bot that ``crash(_:)`` ends.
  static let credentials = FirestoreCredentials.emulatorOwner

  /// Ends a bot that uses ``credentials``, as a crash does: from one moment on it changes nothing, and its documents stay.
  ///
  /// - Returns: whether the bot has ended.
  func crash(_ bot: RealBot) async throws -> Bool {
    try await control(#"{"refuse": ["owner"]}"#)
    return await bot.waitsForEnd()
  }

  func client(_ address: String, options: FirestoreClient.Options? = nil) throws -> FirestoreClient {
    try FirestoreClient(
      address: try FirestoreAddress(address), options: options ?? self.options,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  func store(_ change: (inout FirestoreStore.Configuration) -> Void = { _ in }) throws -> FirestoreStore {
    var configuration = FirestoreStore.Configuration()
    (configuration.server, configuration.identityServer, configuration.tokenServer) = (url, url, url)
    change(&configuration)
    return try FirestoreStore(
      try FirestoreDatabase(project: "p"), configuration, on: MultiThreadedEventLoopGroup.singleton)
  }
}
