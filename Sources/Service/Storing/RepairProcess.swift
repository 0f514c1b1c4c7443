internal import CProcesses
internal import Glibc
internal import Media

/// Runs a program that ends by itself, such as `chatbot repair`, and waits for it. For a thread that may wait.
enum RepairProcess {
  struct Result: Sendable, Hashable {
    var exit: ChildExit
    /// The last bytes of its standard error, in printable form.
    var lastWords: String
  }

  /// The bytes of standard error that are kept.
  private static let keptBytes = 400

  /// - Parameters:
  ///   - words: the program, a path or a name that is looked up in `PATH`, and its arguments.
  ///   - limit: after which it is killed.
  /// - Throws: a ``StoringError`` if it cannot be started.
  static func run(_ words: [String], within limit: Duration) throws(StoringError) -> Result {
    var ends: [Int32] = [-1, -1, -1]
    var child: pid_t = 0
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    // It parses media, so it gets no credentials of the store.
    let variables: [UnsafeMutablePointer<CChar>?] = JobProgram.environment().map { strdup($0) } + [nil]
    let error = cprocesses_start(arguments, variables, 1, &ends, &child)
    for text in arguments + variables { free(text) }
    guard error == 0 else {
      let reason = strerror(error).map { String(cString: $0) } ?? "error \(error)"
      throw StoringError("\((words.first ?? "").printable(utf8Bytes: 200)) cannot be started: \(reason).")
    }
    let (id, pipe) = (child, ends[2])
    let isOver = Monitor(false)
    let words = Monitor([UInt8]())
    let isWatched = DedicatedThread.start("repair") {
      _ = cprocesses_wait(id)
      isOver.withLock { $0 = true }
    }
    // The thread ends when the pipe is closed on the other side.
    let isRead = DedicatedThread.start("repair errors") { read(pipe, into: words) }
    if !isRead { close(pipe) }
    if !isWatched || isOver.wait(atMost: limit, for: { $0 ? true : nil }) == nil { cprocesses_signal(id, SIGKILL) }
    // A process that was killed ends, unless a disk does not answer.
    if isWatched, isOver.wait(atMost: .seconds(10), for: { $0 ? true : nil }) == nil {
      throw StoringError("A repair does not end, though it was killed.")
    }
    let exit = ChildExit(result: cprocesses_reap(id))
    let last = UntrustedText(decoding: words.withLock { $0 }).string.printable(utf8Bytes: keptBytes)
    return Result(exit: exit, lastWords: last)
  }

  private static func read(_ pipe: Int32, into words: Monitor<[UInt8]>) {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let got = Glibc.read(pipe, &buffer, buffer.count)
      if got < 0, errno == EINTR { continue }
      if got <= 0 { break }
      let bytes = buffer[..<got]
      words.withLock { words in
        words += bytes
        if words.count > keptBytes { words.removeFirst(words.count - keptBytes) }
      }
    }
    close(pipe)
  }
}
