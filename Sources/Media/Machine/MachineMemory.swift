import Glibc

/// The memory that this process may use, as the kernel reports it.
package struct MachineMemory: Sendable, Hashable {
  /// The machine's memory, or the limit of a control group that contains this process if that is less; in bytes.
  package let usable: Int
  /// What can be allocated without swapping (proc(5), `MemAvailable`), in bytes; nil if the kernel does not report it.
  package let available: Int?

  /// Reads the kernel's files.
  ///
  /// Limits of control groups are those of version 2 (`memory.max`, and `memory.high`, beyond which the kernel slows
  /// the process down) and of version 1 (`memory.limit_in_bytes`), of the process's group and all groups around it.
  ///
  /// - Parameter content: returns the text of a file; nil if it cannot be read.
  /// - Returns: nil if neither the machine's memory nor a limit is known.
  package init?(reading content: (String) -> String?) {
    let information = content("/proc/meminfo") ?? ""
    let limits = Self.groups(content("/proc/self/cgroup") ?? "").compactMap { file in
      content(file).flatMap(Self.bytes)
    }
    guard let usable = (limits + [Self.entry("MemTotal:", in: information)].compactMap(\.self)).min() else {
      return nil
    }
    self.usable = usable
    available = Self.entry("MemAvailable:", in: information)
  }

  /// Reads the files of this machine.
  package static func read() -> MachineMemory? { MachineMemory(reading: Self.text) }

  /// Returns the files that may contain a limit.
  ///
  /// - Parameter membership: the content of `/proc/self/cgroup` (cgroups(7)): lines `number:controllers:path`.
  private static func groups(_ membership: String) -> [String] {
    var files: [String] = []
    for line in membership.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let (root, names): (String, [String])
      if parts[1].isEmpty {
        (root, names) = ("/sys/fs/cgroup", ["memory.max", "memory.high"])
      } else if parts[1].split(separator: ",").contains("memory") {
        (root, names) = ("/sys/fs/cgroup/memory", ["memory.limit_in_bytes"])
      } else {
        continue
      }
      // In a container the path may be that of the host; then only the root is visible.
      var folders = [root]
      for name in parts[2].split(separator: "/") where name != ".." {
        folders.append("\(folders.last ?? root)/\(name)")
      }
      files += folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
    }
    return files
  }

  /// Parses the content of a limit's file; nil for `max` and anything else that is not a positive number.
  private static func bytes(_ text: String) -> Int? {
    text.split(separator: "\n").first.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Returns the bytes of a line such as `MemTotal:       16315180 kB`.
  private static func entry(_ name: String, in information: String) -> Int? {
    for line in information.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 2, words[0] == name, let count = Int(words[1]), count > 0 else { continue }
      let (bytes, overflow) = count.multipliedReportingOverflow(by: 1_024)
      return overflow ? nil : bytes
    }
    return nil
  }

  /// The maximum size of a file that is read.
  private static let maximumText = 1 << 16

  private static func text(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    while text.count < maximumText {
      let count = Glibc.read(file, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      text += part[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }
}
