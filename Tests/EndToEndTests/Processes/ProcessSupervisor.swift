import Foundation
import Synchronization

/// Ends what the tests started when the test run itself is ended, even by force.
///
/// A shell reads the process ids to watch from a pipe. The pipe closes when this process dies, however it dies;
/// the shell then kills the process groups that are left.
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

  /// Counts the process group led by `id` among those to end.
  func watch(_ id: Int32) {
    tell("watch \(id)\n")
  }

  /// Leaves the process group alone: it has ended, and its number may come again.
  func forget(_ id: Int32) {
    tell("forget \(id)\n")
  }

  private func tell(_ line: String) {
    pipe.withLock { try? $0?.write(contentsOf: Data(line.utf8)) }
  }
}
