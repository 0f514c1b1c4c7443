import Foundation
import Synchronization

/// Kills the processes started by the tests when the test run ends, even by SIGKILL.
///
/// A shell reads the process ids from a pipe. The pipe closes when this process ends for any reason; the shell then
/// kills the remaining process groups.
final class ProcessSupervisor: Sendable {
  static let shared = ProcessSupervisor()

  private static let script = """
    left=' '
    while read -r word id; do
      case $word in
        watch) left="$left$id " ;;
        forget) case $left in *" $id "*) left="${left%% $id *} ${left#* $id }" ;; esac ;;
      esac
    done
    for id in $left; do kill -s KILL -- "-$id" 2>/dev/null; done
    """

  private let pipe = Mutex<FileHandle?>(nil)

  private init() {
    let shell = Process()
    let input = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", Self.script]
    shell.standardInput = input
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    guard (try? shell.run()) != nil else { return }
    pipe.withLock { $0 = input.fileHandleForWriting }
  }

  /// Adds the process group led by `id` to those that must be killed.
  func watch(_ id: Int32) {
    tell("watch \(id)\n")
  }

  /// Removes the process group: it has ended, and its id may be reused.
  func forget(_ id: Int32) {
    tell("forget \(id)\n")
  }

  private func tell(_ line: String) {
    pipe.withLock { try? $0?.write(contentsOf: Data(line.utf8)) }
  }
}
