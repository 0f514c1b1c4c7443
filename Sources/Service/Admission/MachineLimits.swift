internal import Glibc
internal import Media

/// What this machine, or the control group of this process, has.
package struct MachineLimits: Sendable, Hashable {
  /// Thousandths of a processor.
  package var processors: Int64
  /// Bytes; nil if the kernel does not say.
  package var memory: Int64?

  package init(processors: Int64, memory: Int64?) {
    self.processors = processors
    self.memory = memory
  }

  /// Reads the kernel's files.
  package static func read() -> MachineLimits {
    let count = Int64(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)) * 1_000
    let quota = quotaFiles(text("/proc/self/cgroup") ?? "").compactMap { text($0).flatMap(processors) }.min()
    return MachineLimits(
      processors: min(count, quota ?? count), memory: MachineMemory.read().map { Int64($0.usable) })
  }

  /// The files that may limit the processors of control groups of version 2: that of the process and those around it.
  ///
  /// - Parameter membership: the content of `/proc/self/cgroup` (cgroups(7)).
  static func quotaFiles(_ membership: String) -> [String] {
    let root = "/sys/fs/cgroup"
    guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return [] }
    var folders = [root]
    for name in line.dropFirst(3).split(separator: "/") where name != ".." {
      folders.append("\(folders.last ?? root)/\(name)")
    }
    return folders.map { "\($0)/cpu.max" }
  }

  /// The limit of a file `cpu.max`, such as `150000 100000`, in thousandths of a processor; nil for none.
  static func processors(_ text: String) -> Int64? {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let quota = Int64(words[0]), let period = Int64(words[1]), quota > 0, period > 0 else {
      return nil
    }
    let (product, overflow) = quota.multipliedReportingOverflow(by: 1_000)
    return overflow ? nil : max(product / period, 1)
  }

  private static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
