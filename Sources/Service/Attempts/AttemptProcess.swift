internal import CProcesses
internal import Glibc
package import JobProtocol
package import Media
internal import Synchronization

/// The process of an attempt: a child of this service, or one that an earlier service left. Its calls block for the time of some
/// system calls.
package final class AttemptProcess: Sendable {
  private struct State {
    /// Nil for the process of an earlier service that has not yet said who it is.
    var id: Int32?
    var isChild: Bool
    /// Whether the lock is held by this service, which found it free.
    var isFenced = false
    var isOver = false
  }

  private let folder: AttemptDirectory
  private let state: Mutex<State>

  private init(folder: AttemptDirectory, id: Int32?, isChild: Bool) {
    self.folder = folder
    state = Mutex(State(id: id, isChild: isChild))
  }

  /// A process that an earlier service left.
  ///
  /// - Parameter isFenced: whether its lock was free, and is held by this service now.
  package convenience init(adopted folder: AttemptDirectory, isFenced: Bool) {
    self.init(folder: folder, id: nil, isChild: false)
    state.withLock { $0.isFenced = isFenced }
  }

  /// Starts `chatbot job FOLDER`, in a session of its own, with its secrets on standard input and its output in
  /// `FOLDER/output.txt`.
  ///
  /// - Parameters:
  ///   - program: the path of `chatbot`.
  ///   - variables: its environment, `NAME=value`.
  package static func start(
    _ program: String, in folder: AttemptDirectory, secrets: JobSecrets, variables: [String]
  ) throws(AttemptDirectory.WriteError) -> AttemptProcess {
    guard let json = try? secrets.json, json.count <= JobSecrets.maximumBytes else {
      throw AttemptDirectory.WriteError(
        description: "The job has more than \(JobSecrets.maximumBytes) bytes of secrets.")
    }
    let output = above2(
      open("\(folder.path)/output.txt", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600))
    guard output >= 0 else {
      throw AttemptDirectory.WriteError(description: "The file for the output of the job cannot be created.")
    }
    defer { close(output) }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw AttemptDirectory.WriteError(description: "A pipe for the secrets cannot be opened.")
    }
    let (input, writer) = (above2(ends[0]), above2(ends[1]))
    defer { close(input) }
    // A pipe holds 64 KiB, so that this never waits.
    let written = write(writer, json, json.count)
    close(writer)
    guard written == json.count else {
      throw AttemptDirectory.WriteError(description: "The secrets of the job cannot be passed on.")
    }
    let texts: [String] = [program, "job", folder.path]
    let words: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    let environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { for text in words + environment { free(text) } }
    var id: pid_t = 0
    let error = cprocesses_start_session(words, environment, input, output, &id)
    guard error == 0 else {
      throw AttemptDirectory.WriteError(
        description: "\(program) cannot be started: \(String(cString: strerror(error))).")
    }
    return AttemptProcess(folder: folder, id: id, isChild: true)
  }

  /// A descriptor above 2, which the child does not inherit.
  private static func above2(_ file: Int32) -> Int32 {
    guard file >= 0 else { return file }
    let moved = fcntl(file, F_DUPFD_CLOEXEC, 3)
    close(file)
    return moved
  }

  /// What the process says of its id, or what its journal says.
  package func identify(_ id: Int32) {
    state.withLock { state in
      if state.id == nil, id > 1 { state.id = id }
    }
  }

  /// Looks whether the process has ended.
  ///
  /// - Returns: how it ended; nil while it lives.
  package func ended() -> ChildExit? {
    state.withLock { state in
      if state.isOver { return .unknown }
      if state.isChild, let id = state.id {
        var result: Int32 = 0
        guard cprocesses_reap_ended(id, &result) != 0 else { return nil }
        state.isOver = true
        return ChildExit(result: result)
      }
      guard state.isFenced || AttemptLock.state(of: folder.path) == .free else { return nil }
      state.isOver = true
      return .unknown
    }
  }

  /// Sends a signal, unless the process has ended or its id is not known.
  package func send(_ signal: EndingSignal) {
    let number =
      switch signal {
      case .terminate: SIGTERM
      case .abort: SIGABRT
      case .kill: SIGKILL
      }
    // A process that is stopped acts on SIGABRT and SIGTERM only when it continues.
    let numbers = signal == .kill ? [number] : [number, SIGCONT]
    state.withLock { state in
      guard !state.isOver else { return }
      guard let id = state.id ?? (state.isChild ? nil : AttemptLock.process(of: folder.path)), id > 1 else { return }
      // The id of a child is its own until it is reaped here.
      if state.isChild { for number in numbers { _ = kill(id, number) } } else { send(numbers, toHolder: id) }
    }
  }

  /// Sends signals to the process that holds the lock, and to no process that got its id later.
  ///
  /// The descriptor is that of the process that has the id now. The lock, which is held after that, says that it is the process
  /// that wrote the id.
  private func send(_ numbers: [Int32], toHolder id: Int32) {
    let descriptor = cprocesses_open(id)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0 || errno == ENOSYS || errno == EPERM, AttemptLock.state(of: folder.path) == .held else {
      return
    }
    for number in numbers {
      if descriptor >= 0 { _ = cprocesses_send(descriptor, number) } else { _ = kill(id, number) }
    }
  }
}

/// A signal that ends a process that does not answer.
package enum EndingSignal: Sendable, Hashable {
  /// SIGTERM: it ends in order.
  case terminate
  /// SIGABRT: it leaves a core file where the system keeps them.
  case abort
  /// SIGKILL.
  case kill
}
