import ExecSignalling
import Foundation
import Logging
import Signalling
import TestSupport

/// A program of a test: a script of `sh` in a folder of its own, which is its variable `$HERE`.
struct Script: Sendable {
  let folder: URL
  private let file: URL

  /// Says hello and joins a room with anna.
  static let joining = """
    read hello; echo '{"type":"hello","version":1}'
    read join; echo '{"type":"joined","id":"me","participants":[{"id":"anna"}]}'

    """
  /// Waits for `leave`.
  static let staying = """
    while read line; do
      case $line in *'"leave"'*) exit 0;; esac
    done

    """

  init(_ text: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("exec-\(UUID().uuidString)")
    file = folder.appendingPathComponent("adapter.sh")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("HERE='\(folder.path)'\necho $$ >>\"$HERE/ids\"\n\(text)".utf8).write(to: file)
  }

  /// - Parameter change: changes the options, whose timeouts and waits are short.
  func client(_ change: (inout ExecClient.Options) -> Void = { _ in }) throws -> ExecClient {
    var options = ExecClient.Options()
    options.leaveTimeout = .milliseconds(300)
    options.minimumRetryDelay = .milliseconds(10)
    options.maximumRetryDelay = .milliseconds(50)
    change(&options)
    return ExecClient(
      command: try ExecCommand("sh '\(file.path)'"), options: options,
      logger: Logger(label: "quiet", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  func text(of name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  /// The ids of all processes that ran the script and are still there, also as zombies.
  func remaining() throws -> [String] {
    try text(of: "ids").split(separator: "\n").map(String.init)
      .filter { FileManager.default.fileExists(atPath: "/proc/\($0)") }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Returns the error of connecting.
  static func failure(of client: ExecClient) async -> SignallingConnectError? {
    do throws(SignallingConnectError) {
      try await client.connect()
      return nil
    } catch {
      return error
    }
  }
}
