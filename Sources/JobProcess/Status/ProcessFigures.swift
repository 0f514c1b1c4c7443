internal import CThreads
internal import FoundationEssentials
internal import Glibc
internal import Media
internal import MediaWorker
internal import OptionValues
internal import Recorder

/// The CPU time and the memory of this process and of its media workers.
package struct ProcessFigures: Sendable {
  /// In seconds.
  package var cpuSeconds: Double
  /// The part that verified recorded frames, in seconds.
  package var verificationSeconds: Double
  /// Memory that is shared with no other process, in bytes.
  package var privateBytes: Int64

  package static func read() -> ProcessFigures {
    let verifying = WorkerFigures(of: MediaLauncher.background.id)
    let playing = WorkerFigures(of: MediaLauncher.foreground.id)
    let own = Double(cthreads_process_time()) / 1e9
    return ProcessFigures(
      cpuSeconds: own + verifying.cpuSeconds + playing.cpuSeconds,
      verificationSeconds: VerificationPool.processorTime / .seconds(1) + verifying.cpuSeconds,
      privateBytes: memory(of: "self") + verifying.privateBytes + playing.privateBytes)
  }

  /// Resident memory without that of files and shared memory (proc_pid_statm(5)).
  static func memory(of process: String) -> Int64 {
    let fields = text("/proc/\(process)/statm").split(separator: " ").compactMap { Int64($0) }
    guard fields.count > 2 else { return 0 }
    return max(0, fields[1] - fields[2]) * Int64(sysconf(Int32(_SC_PAGESIZE)))
  }

  static func text(_ path: String) -> String {
    (try? BoundedFile.read(path, longest: 65_536)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

/// The figures of `chatbot-media` and of the workers that it has started.
private struct WorkerFigures {
  var cpuSeconds = 0.0
  var privateBytes: Int64 = 0

  init(of launcher: Int32?) {
    guard let launcher else { return }
    // The launcher's own time contains that of workers that have ended.
    add("\(launcher)", withChildren: true)
    let children = ProcessFigures.text("/proc/\(launcher)/task/\(launcher)/children")
    for child in children.split(separator: " ") { add(String(child), withChildren: false) }
  }

  /// Adds the fields utime, stime, cutime and cstime of proc_pid_stat(5), which follow the name in brackets.
  private mutating func add(_ process: String, withChildren: Bool) {
    let stat = ProcessFigures.text("/proc/\(process)/stat")
    guard let bracket = stat.lastIndex(of: ")") else { return }
    let fields = stat[stat.index(after: bracket)...].split(separator: " ")
    guard fields.count > 14 else { return }
    let ticks = fields[11...(withChildren ? 14 : 12)].reduce(0.0) { $0 + (Double($1) ?? 0) }
    cpuSeconds += ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    privateBytes += ProcessFigures.memory(of: process)
  }
}
