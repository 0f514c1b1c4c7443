import Foundation

/// The resources of a running program, from /proc.
struct ProcessFigures: Sendable, CustomStringConvertible {
  /// The resident memory in MiB.
  let memory: Double
  /// The number of open files and sockets.
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

  /// Returns the CPU time of a program so far in seconds; nil once it has ended.
  static func processorTime(of process: Int32) -> Double? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    // The fields after "17 (a name)" start with the third; user and system time are the 14th and 15th.
    let fields = text[end...].split(separator: " ").dropFirst()
    let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }
    return ticks.count == 2 ? ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK))) : nil
  }

  var description: String {
    String(format: "%.1f MiB, %d descriptors, %d threads", memory, descriptors, threads)
  }
}
