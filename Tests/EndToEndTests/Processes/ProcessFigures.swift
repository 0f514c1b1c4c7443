import Foundation

/// What a running program costs, from /proc.
struct ProcessFigures: Sendable, CustomStringConvertible {
  /// Memory in RAM, in MiB.
  let memory: Double
  /// Open files and sockets.
  let descriptors: Int
  let threads: Int

  /// Nil once the program has ended.
  init?(of process: Int32) {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    else { return nil }
    func figure(_ name: String) -> Double? {
      status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Double($0) }
    }
    guard let memory = figure("VmRSS"), let threads = figure("Threads") else { return nil }
    self.memory = memory / 1024
    self.descriptors = descriptors
    self.threads = Int(threads)
  }

  var description: String {
    String(format: "%.1f MiB, %d descriptors, %d threads", memory, descriptors, threads)
  }
}
