import Media
import Recorder
import Testing

@Suite("The memory for queued frames")
struct MemoryBudgetTests {
  private static let meminfo = """
    MemTotal:        8000000 kB
    MemFree:          300000 kB
    MemAvailable:    6000000 kB
    Buffers:           12000 kB

    """
  private static let kiB = 1_024
  private static let miB = 1 << 20

  /// Returns what is read from a machine with these files.
  private func memory(_ files: [String: String], meminfo: String? = meminfo) -> MachineMemory? {
    var files = files
    files["/proc/meminfo"] = meminfo
    return MachineMemory { files[$0] }
  }

  @Test("without a control group, all memory of the machine counts")
  func machine() {
    let memory = memory(["/proc/self/cgroup": "0::/\n"])
    #expect(memory?.usable == 8_000_000 * Self.kiB && memory?.available == 6_000_000 * Self.kiB)
  }

  @Test("the smallest limit of version 2 counts, of the process's group or of one around it, with memory.high")
  func version2() {
    var files = [
      "/proc/self/cgroup": "0::/system.slice/bot.service\n",
      "/sys/fs/cgroup/system.slice/bot.service/memory.max": "max\n",
      "/sys/fs/cgroup/system.slice/memory.max": "2147483648\n",
    ]
    #expect(memory(files)?.usable == 2 << 30)
    files["/sys/fs/cgroup/system.slice/bot.service/memory.high"] = "1073741824\n"
    #expect(memory(files)?.usable == 1 << 30)
    // A container sees its own group as the root.
    #expect(memory(["/proc/self/cgroup": "0::/", "/sys/fs/cgroup/memory.max": "536870912\n"])?.usable == 512 << 20)
    let outside = ["/proc/self/cgroup": "0::/../../app\n", "/sys/fs/cgroup/app/memory.max": "1048576\n"]
    #expect(memory(outside)?.usable == 1 << 20)
  }

  @Test("a limit of version 1 counts, also where the path is that of the host")
  func version1() {
    let lines = "9:name=systemd:/\n4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n0::/docker/abc\n"
    var files = [
      "/proc/self/cgroup": lines, "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "1073741824\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    ]
    #expect(memory(files)?.usable == 1 << 30)
    files = ["/proc/self/cgroup": lines, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"]
    #expect(memory(files)?.usable == 256 << 20)
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n"
    #expect(memory(files)?.usable == 8_000_000 * Self.kiB)
  }

  @Test("files that are missing or contain anything else leave the machine's memory, or nothing")
  func unknown() {
    #expect(memory([:], meminfo: nil) == nil)
    #expect(memory([:], meminfo: "MemTotal: many kB\nMemTotal:\n") == nil)
    #expect(memory([:], meminfo: "MemTotal: 9223372036854775807 kB") == nil)
    let odd = ["/proc/self/cgroup": "no\n0::\n::::\n", "/sys/fs/cgroup/memory.max": "-5\n"]
    #expect(memory(odd)?.usable == 8_000_000 * Self.kiB)
    #expect(
      memory(["/proc/self/cgroup": "0::/", "/sys/fs/cgroup/memory.max": "64000000"], meminfo: nil)?.available == nil)
  }

  @Test("the kernel of this machine reports its memory")
  func thisMachine() throws {
    let memory = try #require(MachineMemory.read())
    #expect(memory.usable > 64 << 20 && memory.available ?? 1 > 0)
  }

  /// The budget of a machine with so many MiB, of which so many are available.
  private func budget(_ usable: Int, available: Int? = nil) -> MemoryBudget {
    var meminfo = "MemTotal: \(usable * Self.kiB) kB\n"
    if let available { meminfo += "MemAvailable: \(available * Self.kiB) kB\n" }
    return .automatic(of: memory([:], meminfo: meminfo))
  }

  @Test("it grows with the participants, up to an eighth of the machine's memory")
  func participants() {
    let budget = self.budget(2_048)
    #expect(budget.limit(participants: 1) == 34 * Self.miB)
    #expect(budget.limit(participants: 80) == 192 * Self.miB)
    #expect(budget.limit(participants: 300) == 256 * Self.miB)
    #expect(budget.limit(participants: .max) == 256 * Self.miB && budget.limit(participants: -1) == 32 * Self.miB)
  }

  @Test("it is at most half of what is available and 1 GiB, but at least 32 MiB")
  func bounds() {
    #expect(budget(2_048, available: 200).limit(participants: 300) == 100 * Self.miB)
    #expect(budget(65_536, available: 60_000).limit(participants: 10_000) == 1_024 * Self.miB)
    #expect(budget(128, available: 20).limit(participants: 10) == 32 * Self.miB)
    #expect(MemoryBudget.automatic(of: nil).limit(participants: 10) == 32 * Self.miB)
  }

  @Test("a limit that the user sets is the same for any number of participants")
  func fixed() {
    let budget = MemoryBudget.fixed(5 << 20)
    #expect(budget.limit(participants: 0) == 5 << 20 && budget.limit(participants: 500) == 5 << 20)
  }

  @Test("recorders that share a machine have equal parts of it, but at least 8 MiB, or all of a small limit")
  func divided() {
    let quarter = budget(2_048).divided(by: 4)
    #expect(quarter.limit(participants: 0) == 8 * Self.miB && quarter.limit(participants: 10) == 28 * Self.miB)
    #expect(quarter.limit(participants: 300) == 64 * Self.miB)
    #expect(budget(2_048).divided(by: 16).limit(participants: 0) == 8 * Self.miB)
    #expect(MemoryBudget.fixed(4 << 20).divided(by: 8).limit(participants: 9) == 4 << 20)
    #expect(MemoryBudget.fixed(64 << 20).divided(by: 2).limit(participants: 9) == 32 << 20)
  }
}
