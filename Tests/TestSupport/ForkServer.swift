import Foundation
import Glibc
import Synchronization

/// A program that is linked and initialised once and forks a copy of itself for each run:
/// `Tests/ForkServer/fork_server.c`.
///
/// Starting ffprobe takes a tenth of a second of CPU time, nearly all of it for linking 200 libraries.
final class ForkServer: Sendable {
  private let socket: Int32
  private let process = Process()

  /// The idle servers by program name. A server handles one request at a time.
  private static let idle = Mutex<[String: [ForkServer]]>([:])

  /// Runs a program through a server.
  ///
  /// - Parameters:
  ///   - limit: The seconds after which it is killed.
  ///   - output, errors: The files for its output.
  /// - Returns: Its exit code; nil if no server was available and the program did not run.
  static func run(
    _ program: String, _ arguments: [String], limit: Int, output: String, errors: String
  ) -> Int32? {
    guard let library = ProcessInfo.processInfo.environment["CHATBOT_FORK_SERVER"],
      let server = idle.withLock({ $0[program]?.popLast() }) ?? ForkServer(program, library: library),
      let status = server.answer(to: ["\(limit)", output, errors, program] + arguments)
    else { return nil }
    idle.withLock { $0[program, default: []].append(server) }
    return status
  }

  private init?(_ program: String, library: String) {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    guard let path = folders.map({ "\($0)/\(program)" }).first(where: FileManager.default.isExecutableFile(atPath:))
    else {
      return nil
    }
    let streamType = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { return nil }
    socket = ends[0]
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // A lower priority, so that it does not disturb tests that run in real time.
    process.arguments = ["nice", "-n", "5", "env", "LD_PRELOAD=\(library)", path]
    process.standardInput = FileHandle(fileDescriptor: ends[1])
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let started: Void? = try? process.run()
    Glibc.close(ends[1])
    // The server reports that it is ready; a program that cannot be preloaded ends instead.
    guard started != nil, read(count: 1) != nil else {
      Glibc.close(socket)
      return nil
    }
  }

  deinit { Glibc.close(socket) }

  private func answer(to strings: [String]) -> Int32? {
    var body: [UInt8] = []
    for string in strings { body += string.utf8 + [0] }
    let request = withUnsafeBytes(of: UInt32(body.count)) { [UInt8]($0) } + body
    guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
    return read(count: 4)?.withUnsafeBytes { $0.loadUnaligned(as: Int32.self) }
  }

  private func read(count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return recv(socket, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
  }
}
