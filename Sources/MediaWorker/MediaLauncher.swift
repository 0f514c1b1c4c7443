internal import CMediaSockets
internal import Glibc
internal import Media
internal import MediaMessages
internal import Synchronization

/// The running program `chatbot-media`: starts it when the first worker is needed, and has it fork workers.
///
/// Its methods wait for processes: they are for threads that may wait, never for an event loop.
package final class MediaLauncher: Sendable {
  /// For verification: workers have the low priority of its threads.
  package static let background = MediaLauncher()
  /// For what is played: workers have the priority of the program.
  package static let foreground = MediaLauncher()

  /// How long the program may take to load its libraries, and to fork a worker, in milliseconds.
  private static let startPatience: Int32 = 20_000
  private static let patience: Int32 = 20_000
  /// How often the program may end unexpectedly before it is not started again.
  private static let maximumDeaths = 5

  /// The workers of all launchers of this process.
  private static let counts = Mutex(WorkerCounts())

  private struct Running {
    let id: Int32
    let socket: Int32
  }

  private struct State {
    var running: Running?
    var deaths = 0
    /// Why there is no program, as a sentence.
    var missing: String?
    /// Whether it was said what is not verified for that reason, and what this process decodes.
    var hasReportedLoss = false
    var hasReportedSubstitute = false
  }

  private let path: String?
  private let state = Mutex(State())
  /// Workers that nobody asks about any more.
  private let forgotten = Mutex<[Int32]>([])

  /// - Parameter path: the program; nil to find it, see `ProgramPath`.
  package init(path: String? = nil) { self.path = path }

  deinit {
    state.withLock { state in
      if let running = state.running.take() { Self.stop(running) }
    }
  }

  /// Why there is no program, or no worker for what this process decodes as well, as a sentence; nil if there is one, or if nothing was
  /// decoded yet. Once only for each kind of worker, so that it is said once.
  func takeReasonOfAbsence(isReplaceable: Bool) -> String? {
    state.withLock { state in
      let isFull = isReplaceable && Self.counts.withLock { $0.all >= MediaLimits.workers }
      guard !(isReplaceable ? state.hasReportedSubstitute : state.hasReportedLoss),
        let reason = state.missing ?? (isFull ? "\(MediaLimits.workers) processes decode for others already." : nil)
      else { return nil }
      if isReplaceable { state.hasReportedSubstitute = true } else { state.hasReportedLoss = true }
      return reason
    }
  }

  /// The process id of the running program.
  package var id: Int32? { state.withLock { $0.running?.id } }

  // MARK: Workers

  /// A new worker: its process, and our end of its socket.
  struct Started: @unchecked Sendable {
    let id: Int32
    let socket: Int32
    let memory: UnsafeMutableRawBufferPointer
    /// Whether this process decodes what it decodes as well.
    fileprivate(set) var isReplaceable: Bool
  }

  func startWorker(_ kind: WorkerKind, isReplaceable: Bool) throws(MediaWorkerError) -> Started {
    guard Self.counts.withLock({ $0.add(isReplaceable: isReplaceable) }) else { throw Self.isFull }
    do throws(MediaWorkerError) {
      return try makeWorker(kind, isReplaceable: isReplaceable)
    } catch {
      Self.counts.withLock { $0.remove(isReplaceable: isReplaceable) }
      throw error
    }
  }

  /// Makes a worker irreplaceable, because it is to decode what this process does not.
  func keep(_ worker: inout Started) throws(MediaWorkerError) {
    guard worker.isReplaceable else { return }
    guard Self.counts.withLock({ $0.keep() }) else { throw Self.isFull }
    worker.isReplaceable = false
  }

  private static let isFull = MediaWorkerError.unavailable("\(MediaLimits.workers) participants are decoded already")

  /// Whether workers that can be replaced are to end, because others need their places.
  static var isCrowded: Bool { counts.withLock(\.isCrowded) }

  private func makeWorker(_ kind: WorkerKind, isReplaceable: Bool) throws(MediaWorkerError) -> Started {
    var ends: [Int32] = [-1, -1]
    guard cmedia_pair(&ends) == 0 else { throw .unavailable("no socket can be opened") }
    defer { close(ends[1]) }
    let memory = cmedia_memory(MediaLimits.sharedBytes)
    defer { if memory >= 0 { close(memory) } }
    guard memory >= 0,
      let start = mmap(nil, MediaLimits.sharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0), start != MAP_FAILED
    else {
      close(ends[0])
      throw .unavailable("there is no memory to share")
    }
    let started = ask(.start(kind), with: [ends[1], memory])
    guard case .started(let id)? = started.response else {
      close(ends[0])
      munmap(start, MediaLimits.sharedBytes)
      throw .unavailable(started.reason)
    }
    return Started(
      id: id, socket: ends[0], memory: UnsafeMutableRawBufferPointer(start: start, count: MediaLimits.sharedBytes),
      isReplaceable: isReplaceable)
  }

  /// Ends a worker, if it has not ended by itself.
  ///
  /// - Returns: how it ended.
  func end(_ worker: Started) -> ChildExit {
    release(worker)
    guard case .ended(let result)? = ask(.end(worker.id), with: [], starts: false).response else { return .unknown }
    return ChildExit(result: result)
  }

  /// Ends a worker without waiting.
  func forget(_ worker: Started) {
    release(worker)
    forgotten.withLock { $0.append(worker.id) }
    state.withLockIfAvailable { state in
      if let running = state.running { sendForgotten(to: running) }
    }
  }

  private func release(_ worker: Started) {
    close(worker.socket)
    munmap(worker.memory.baseAddress, worker.memory.count)
    Self.counts.withLock { $0.remove(isReplaceable: worker.isReplaceable) }
  }

  private func sendForgotten(to running: Running) {
    forgotten.withLock { ids in
      while let id = ids.last {
        let bytes = LauncherRequest.forget(id).encoded
        guard cmedia_send(running.socket, bytes, bytes.count, nil, 0) == 0 else { return }
        ids.removeLast()
      }
    }
  }

  // MARK: The program

  /// Sends a request, and starts the program before if need be.
  ///
  /// - Returns: the response, or why there is none.
  private func ask(
    _ request: LauncherRequest, with descriptors: [Int32], starts: Bool = true
  ) -> (response: LauncherResponse?, reason: String) {
    state.withLock { state in
      for _ in 0..<2 {
        if state.running == nil, starts { start(&state) }
        guard let running = state.running else { return (nil, state.missing ?? "chatbot-media has ended") }
        sendForgotten(to: running)
        let bytes = request.encoded
        if cmedia_send(running.socket, bytes, bytes.count, descriptors, Int32(descriptors.count)) == 0,
          let response = Self.receive(running.socket, patience: Self.patience).response
        {
          if case .failed(let reason) = response { return (nil, "chatbot-media could not start a worker: \(reason)") }
          return (response, "")
        }
        Self.stop(running)
        state.running = nil
        state.deaths += 1
        forgotten.withLock { $0.removeAll() }
      }
      return (nil, "chatbot-media has ended")
    }
  }

  private func start(_ state: inout State) {
    if state.missing != nil { return }
    if state.deaths >= Self.maximumDeaths {
      state.missing = "chatbot-media ended \(state.deaths) times."
      return
    }
    let program: String
    switch path.map({ Result.success($0) }) ?? ProgramPath.media.find() {
    case .success(let path): program = path
    case .failure(let missing):
      state.missing = missing.sentence
      return
    }
    var ends: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    guard cmedia_pair(&ends) == 0 else { return }
    guard cmedia_pair(&errors) == 0 else {
      close(ends[0])
      close(ends[1])
      return
    }
    var id: pid_t = 0
    let error = cmedia_start(program, ends[1], errors[1], &id)
    close(ends[1])
    close(errors[1])
    defer { close(errors[0]) }
    guard error == 0 else {
      close(ends[0])
      state.missing = "\(program) cannot be started: \(String(cString: strerror(error)))."
      return
    }
    let running = Running(id: id, socket: ends[0])
    let (greeting, isLate) = Self.receive(running.socket, patience: Self.startPatience)
    if case .ready(MediaLimits.version)? = greeting {
      state.running = running
      return
    }
    // What we do to a program that goes on is not why it is not used.
    let exit = Self.stop(running)
    if case .ready? = greeting {
      state.missing = "\(program) is of another version than this program."
    } else if isLate {
      state.missing = "\(program) did not start within \(Self.startPatience / 1_000) s."
    } else {
      state.missing = exit.sentence(of: program, lastLine: Self.lastLine(of: errors[0]))
    }
  }

  /// - Returns: the response; without one, whether the program has sent nothing and goes on.
  private static func receive(_ socket: Int32, patience: Int32) -> (response: LauncherResponse?, isLate: Bool) {
    var bytes = [UInt8](repeating: 0, count: MediaLimits.messageBytes)
    let received = cmedia_receive(socket, &bytes, bytes.count, patience, nil, nil)
    guard received > 0 else { return (nil, received == -Int(ETIMEDOUT)) }
    return (try? LauncherResponse(parsing: Array(bytes.prefix(received))), false)
  }

  /// Ends the program. Its workers end with it.
  @discardableResult
  private static func stop(_ running: Running) -> ChildExit {
    close(running.socket)
    // It ends by itself, but nobody waits for one that does not.
    kill(running.id, SIGKILL)
    var status: Int32 = 0
    while waitpid(running.id, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? .code(Int(status >> 8 & 0xFF)) : .signal(Int(signal))
  }

  private static func lastLine(of errors: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let received = cmedia_receive(errors, &bytes, bytes.count, 0, nil, nil)
    guard received > 0 else { return nil }
    let lines = bytes.prefix(received).split(separator: UInt8(ascii: "\n"))
    return lines.last.map { String(decoding: $0, as: UTF8.self).printable(utf8Bytes: 200) }
  }
}
