import Foundation

extension ProcessFigures {
  /// The most memory in RAM that a running program has had, in MiB; nil once it has ended.
  static func peakMemory(of process: Int32) -> Double? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
    return status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Double($0) }.map { $0 / 1024 }
  }
}
