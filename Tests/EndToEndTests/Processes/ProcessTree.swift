import Foundation

/// A program and its children, from /proc.
enum ProcessTree {
  /// Returns the private and shared memory of all, each shared page counted in parts, in MiB.
  static func memory(of process: Int32) -> Double {
    ([process] + descendants(of: process)).reduce(0) { $0 + proportionalMemory(of: $1) }
  }

  private static func descendants(of process: Int32) -> [Int32] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    let children = threads.flatMap { thread in
      ((try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? "")
        .split(separator: " ").compactMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
    return children.flatMap { [$0] + descendants(of: $0) }
  }

  private static func proportionalMemory(of process: Int32) -> Double {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
    return (kibibytes ?? 0) / 1_024
  }
}
