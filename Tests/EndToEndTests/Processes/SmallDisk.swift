import Foundation
import TestSupport

/// A disk of a few megabytes that only one program sees: a tmpfs in its own mount namespace.
final class SmallDisk: Sendable {
  /// The command prefix with which a program sees the disk.
  let prefix: [String]
  /// The disk's path as the program sees it.
  let path: String
  /// The same folder as the test sees it.
  let url: URL
  private let holder: ChildProcess

  private init(holder: ChildProcess, path: String) {
    self.holder = holder
    self.path = path
    prefix = ["nsenter", "--target", "\(holder.id)", "--mount", "--"]
    url = URL(fileURLWithPath: "/proc/\(holder.id)/root\(path)")
  }

  /// Mounts the disk, which exists until `close()`.
  static func mount(megabytes: Int, at folder: URL, log: URL) async throws -> SmallDisk {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let script = "mount -t tmpfs -o size=\(megabytes)m tmpfs \"$0\" && echo ready && exec sleep 3600"
    let holder = try ChildProcess("disk", ["unshare", "--mount", "sh", "-c", script, folder.path], log: log)
    do {
      try await eventually("small disk", within: .seconds(5), every: .milliseconds(10)) {
        if holder.output.contains("ready") { return true }
        if !holder.isRunning { throw Network.Failure.notPermitted(holder.output) }
        return nil
      }
    } catch {
      await holder.end()
      throw error
    }
    return SmallDisk(holder: holder, path: folder.path)
  }

  /// Fills the disk completely.
  func fill() throws {
    let filled = try ExternalTool.run("dd", ["if=/dev/zero", "of=\(url.path)/filler", "bs=4096"])
    guard filled.errors.contains("No space left") else { throw NotFilled(output: filled.errors) }
  }

  /// Frees the filled space.
  func makeRoom() throws {
    try FileManager.default.removeItem(at: url.appendingPathComponent("filler"))
  }

  func close() async {
    await holder.end()
  }

  struct NotFilled: Error, CustomStringConvertible {
    let output: String

    var description: String { "The small disk could not be filled: \(output)" }
  }
}
