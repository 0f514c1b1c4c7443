import Foundation

extension ProcessFigures {
  /// Returns the peak resident memory of a running program in MiB; nil once it has ended.
  static func peakMemory(of process: Int32) -> Double? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
    return status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Double($0) }.map { $0 / 1024 }
  }
}
