public import Foundation

/// Runs external programs, whose reading of a file is independent of ours.
public enum ExternalTool {
  /// The result of a program.
  public struct Result: Sendable {
    public let status: Int32
    public let output: String
    public let errors: String
  }

  /// The programs that take longer to start than to read a small file.
  private static let slowToStart: Set = ["ffmpeg", "ffprobe", "mkvinfo", "mkvmerge", "opusenc", "opusinfo"]

  /// Runs a program from the PATH to its end.
  ///
  /// - Parameters:
  ///   - limit: The seconds after which it is killed.
  ///   - niceness: By default a lower priority, so that it does not disturb tests that run in real time.
  public static func run(
    _ command: String, _ arguments: [String], limit: TimeInterval = 60, niceness: Int = 5
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let outputFile = folder.appendingPathComponent("output")
    let errorFile = folder.appendingPathComponent("errors")
    _ = FileManager.default.createFile(atPath: outputFile.path, contents: nil)
    _ = FileManager.default.createFile(atPath: errorFile.path, contents: nil)
    let (output, errors) = (outputFile.path, errorFile.path)
    let served =
      slowToStart.contains(command)
      ? ForkServer.run(command, arguments, limit: Int(limit.rounded(.up)), output: output, errors: errors) : nil
    let status =
      try served
      ?? start(command, arguments, limit: limit, niceness: niceness, output: outputFile, errors: errorFile)
    return Result(
      status: status,
      output: String(decoding: try Data(contentsOf: outputFile), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
  }

  private static func start(
    _ command: String, _ arguments: [String], limit: TimeInterval, niceness: Int, output: URL, errors: URL
  ) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["nice", "-n", "\(niceness)", "timeout", "\(limit)", command] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    // `timeout` led a process group. What the program started and did not end would disturb later tests.
    kill(-process.processIdentifier, SIGKILL)
    return process.terminationStatus
  }
}
