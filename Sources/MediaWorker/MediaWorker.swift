internal import CMediaSockets
internal import Glibc
internal import Media
package import MediaMessages
internal import NIOCore
internal import Synchronization

/// The worker of one participant, which decodes all their streams in a process of its own. It is started by the first request, and
/// started again after a crash, at most twice.
///
/// A decoder is replaceable if this process decodes its codec as well: its owner does that where there is no worker, or where
/// ``isToBeReplaced`` says so.
///
/// Each request waits for its response: they are for threads that may wait, never for an event loop. Requests of several threads
/// wait for each other.
package final class MediaWorker: Sendable {
  /// After this many crashes nothing more is decoded.
  package static let maximumCrashes = 3
  /// How often we look for what a worker does that has not answered, in milliseconds.
  private static let interval: Int32 = 500

  private struct State {
    var process: MediaLauncher.Started?
    /// The number of processes so far. A decoder is of one of them.
    var generation = 0
    var crashes = 0
    /// Whether what was decoded may have caused one of them.
    var isSuspect = false
    var lastNumber: UInt32 = 0
    /// The CPU time of the process after its last response.
    var usedTime: Int64 = 0
    /// Whether a request waits for ``collect(of:_:)``.
    var isPending = false
    var decoders = Set<UInt8>()
  }

  private let launcher: MediaLauncher
  private let kind: WorkerKind
  private let patience: RequestPatience
  private let report: (@Sendable (WorkerNotice) -> Void)?
  private let state = Mutex(State())
  private let spentTime = Atomic(0)
  /// Decoders that are to be ended.
  private let abandoned = Mutex<[Decoder]>([])

  /// - Parameters:
  ///   - launcher: starts the process.
  ///   - kind: what the process is for.
  ///   - hasTime: whether a decoding process may take minutes to answer, as long as it uses no CPU time: see ``RequestPatience``.
  ///   - report: called with a sentence for the log, when the process crashed or when there is none.
  package init(
    _ launcher: MediaLauncher = .background, for kind: WorkerKind = .decoding, hasTime: Bool = false,
    report: (@Sendable (WorkerNotice) -> Void)? = nil
  ) {
    self.launcher = launcher
    self.kind = kind
    patience = RequestPatience(of: kind, hasTime: hasTime)
    self.report = report
  }

  deinit {
    state.withLock { state in
      if let process = state.process.take() { launcher.forget(process) }
    }
  }

  /// The process id of the worker; nil while there is none.
  package var id: Int32? { state.withLock { $0.process?.id } }

  /// How often the process ended unexpectedly.
  package var crashes: Int { state.withLock { $0.crashes } }

  /// Whether what was decoded may have caused the end of a process, so that this process must not decode it.
  package var isSuspect: Bool { state.withLock { $0.isSuspect } }

  /// Whether other participants need the place of the process, and all that it decodes can be decoded in this process.
  package var isToBeReplaced: Bool {
    MediaLauncher.isCrowded && state.withLock { $0.process?.isReplaceable ?? false }
  }

  /// Whether a process decodes from the next keyframe on, although the last one has ended.
  package var canContinue: Bool { state.withLock { $0.crashes < Self.maximumCrashes } }

  /// The CPU time that requests have taken, without those of replaceable decoders, whose time the size of their frames limits.
  package var processorTime: Duration { .nanoseconds(spentTime.load(ordering: .relaxed)) }

  // MARK: Decoders

  /// A decoder of the worker.
  struct Decoder {
    let number: UInt8
    /// The process that has it.
    let generation: Int
    let isReplaceable: Bool
  }

  func open(_ codec: MediaCodec, isReplaceable: Bool) throws(MediaWorkerError) -> Decoder {
    try state.withLock { state throws(MediaWorkerError) in
      try start(&state, isReplaceable: isReplaceable)
      try closeAbandoned(&state)
      guard let number = (0..<UInt8(MediaLimits.decoders)).first(where: { !state.decoders.contains($0) }) else {
        throw .unavailable("the participant has too many streams")
      }
      guard case .done = try send(.openDecoder(number, codec), &state) else { throw crashed(.garbage, &state) }
      state.decoders.insert(number)
      return Decoder(number: number, generation: state.generation, isReplaceable: isReplaceable)
    }
  }

  /// Ends a decoder with the next request, or the process with its last decoder; does not wait.
  func close(_ decoder: Decoder) {
    abandoned.withLock { $0.append(decoder) }
    state.withLockIfAvailable { state in
      let numbers = abandoned.withLock { $0.filter { $0.generation == state.generation }.map(\.number) }
      guard state.decoders.isSubset(of: numbers), let process = state.process.take() else { return }
      launcher.forget(process)
    }
  }

  private func closeAbandoned(_ state: inout State) throws(MediaWorkerError) {
    for decoder in abandoned.withLock({ list in
      defer { list = [] }
      return list
    }) where decoder.generation == state.generation && state.decoders.remove(decoder.number) != nil {
      guard case .done = try send(.closeDecoder(decoder.number), &state) else { throw crashed(.garbage, &state) }
    }
  }

  /// Sends a request about a decoder.
  ///
  /// - Parameters:
  ///   - frame: the bytes of the request.
  ///   - read: reads what the response describes in the shared memory, which the worker may change meanwhile.
  /// - Returns: nil if the decoder was of a process that has ended.
  func request<Result>(
    _ body: MediaRequest.Body, of decoder: Decoder, frame: ByteBuffer? = nil,
    _ read: (MediaResponse.Body, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> Result? {
    try state.withLock { state throws(MediaWorkerError) in
      guard let process = state.process, state.generation == decoder.generation else { return nil }
      if let frame {
        guard frame.readableBytes <= MediaLimits.frameBytes else { throw .refused("it is too large") }
        frame.withUnsafeReadableBytes { process.memory.copyMemory(from: $0) }
      }
      let response = try send(body, isReplaceable: decoder.isReplaceable, &state)
      guard let result = read(response, UnsafeRawBufferPointer(process.memory)) else {
        throw crashed(.garbage, &state)
      }
      return result
    }
  }

  // MARK: Other requests

  /// Sends a request that is about no decoder.
  ///
  /// - Parameters:
  ///   - descriptors: sent with the request.
  ///   - generation: the process that the request is about; nil for any, which is started if there is none.
  ///   - write: writes what the request needs into the shared memory.
  ///   - read: reads what the response describes in the shared memory, which the worker may change meanwhile.
  /// - Returns: what `read` returned, and the process.
  func perform<Result>(
    _ body: MediaRequest.Body, of generation: Int? = nil, with descriptors: [Int32] = [],
    write: (UnsafeMutableRawBufferPointer) -> Void = { _ in },
    _ read: (MediaResponse.Body, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> (Result, generation: Int) {
    try state.withLock { state throws(MediaWorkerError) in
      if generation == nil { try start(&state, isReplaceable: false) }
      guard let process = state.process, generation == nil || state.generation == generation else {
        throw .ended("has ended")
      }
      write(process.memory)
      let response = try send(body, with: descriptors, &state)
      guard let result = read(response, UnsafeRawBufferPointer(process.memory)) else {
        throw crashed(.garbage, &state)
      }
      return (result, state.generation)
    }
  }

  /// Sends a request and does not wait. The next request must be ``collect(of:_:)``.
  ///
  /// - Parameter write: writes what the request needs into the shared memory.
  func submit(
    _ body: MediaRequest.Body, of generation: Int, write: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(MediaWorkerError) {
    try state.withLock { state throws(MediaWorkerError) in
      guard let process = state.process, state.generation == generation else { throw .ended("has ended") }
      write(process.memory)
      try transmit(body, with: [], &state)
      state.isPending = true
    }
  }

  /// Gives access to the shared memory while a request is under way.
  func withMemory(of generation: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) throws(MediaWorkerError) {
    try state.withLock { state throws(MediaWorkerError) in
      guard let process = state.process, state.generation == generation else { throw .ended("has ended") }
      body(process.memory)
    }
  }

  /// Waits for the response to a submitted request.
  ///
  /// - Parameter read: see ``perform(_:of:with:write:_:)``.
  /// - Returns: nil if no request was submitted.
  func collect<Result>(
    of generation: Int, _ read: (MediaResponse.Body, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> Result? {
    try state.withLock { state throws(MediaWorkerError) in
      guard let process = state.process, state.generation == generation else { throw .ended("has ended") }
      guard state.isPending else { return nil }
      state.isPending = false
      let response = try receive(isReplaceable: false, &state)
      guard let result = read(response, UnsafeRawBufferPointer(process.memory)) else {
        throw crashed(.garbage, &state)
      }
      return result
    }
  }

  // MARK: The process

  private func start(_ state: inout State, isReplaceable: Bool) throws(MediaWorkerError) {
    if var process = state.process {
      if isReplaceable || !process.isReplaceable { return }
      try launcher.keep(&process)
      state.process = process
      return
    }
    guard state.crashes < Self.maximumCrashes else {
      throw .unavailable("its decoder crashed \(state.crashes) times")
    }
    do throws(MediaWorkerError) {
      state.process = try launcher.startWorker(kind, isReplaceable: isReplaceable)
    } catch {
      if let report, let reason = launcher.takeReasonOfAbsence(isReplaceable: isReplaceable) {
        report(
          isReplaceable
            ? .replaced("\(reason) VP8 and VP9 are decoded in this process.")
            : .notVerified("\(reason) \(Self.decodedOnlyHere) are recorded, but not verified."))
      }
      throw error
    }
    state.generation += 1
    state.decoders = []
    state.usedTime = 0
    state.isPending = false
  }

  private func send(
    _ body: MediaRequest.Body, with descriptors: [Int32] = [], isReplaceable: Bool = false, _ state: inout State
  ) throws(MediaWorkerError) -> MediaResponse.Body {
    try transmit(body, with: descriptors, &state)
    return try receive(isReplaceable: isReplaceable, &state)
  }

  private func transmit(
    _ body: MediaRequest.Body, with descriptors: [Int32], _ state: inout State
  ) throws(MediaWorkerError) {
    guard let process = state.process else { throw .unavailable("there is no process") }
    state.lastNumber &+= 1
    let bytes = MediaRequest(state.lastNumber, body).encoded
    guard cmedia_send(process.socket, bytes, bytes.count, descriptors, Int32(descriptors.count)) == 0 else {
      throw crashed(.end, &state)
    }
  }

  /// Waits for the response to the last request.
  private func receive(isReplaceable: Bool, _ state: inout State) throws(MediaWorkerError) -> MediaResponse.Body {
    guard let process = state.process else { throw .unavailable("there is no process") }
    let before = state.usedTime
    var now = before
    defer { if !isReplaceable { spentTime.wrappingAdd(Int(max(0, now - before)), ordering: .relaxed) } }
    var response = [UInt8](repeating: 0, count: MediaLimits.messageBytes)
    var received: Int
    var (idle, used, rounds) = (0, before, 0)
    repeat {
      received = cmedia_receive(process.socket, &response, response.count, Self.interval, nil, nil)
      guard received == -Int(ETIMEDOUT) else { break }
      now = cmedia_processor_time(process.id)
      if now - before > patience.processorTime { throw crashed(.excess, &state) }
      (idle, used, rounds) = (now > used ? 0 : idle + 1, now, rounds + 1)
    } while idle < patience.maximumIdle && rounds < patience.maximumRounds
    if received == -Int(ETIMEDOUT) { throw unresponsive(&state) }
    guard received > 0 else { throw crashed(received == -Int(EMSGSIZE) ? .garbage : .end, &state) }
    guard let parsed = try? MediaResponse(parsing: Array(response.prefix(received))), parsed.number == state.lastNumber
    else { throw crashed(.garbage, &state) }
    now = cmedia_processor_time(process.id)
    if now - before > patience.processorTime { throw crashed(.excess, &state) }
    state.usedTime = now
    if case .failed(let reason) = parsed.body { throw .refused(reason) }
    return parsed.body
  }

  /// Why a process is not used any more.
  private enum Fault {
    /// It has ended; its exit says why.
    case end
    case garbage
    case excess
    /// It had no time, or was stopped.
    case silence

    /// A clause; nil if the exit says it.
    func clause(_ patience: RequestPatience) -> String? {
      switch self {
      case .end: nil
      case .garbage: "sent garbage"
      case .excess: "needed more than \(patience.processorTime / 1_000_000_000) s of CPU time for a frame"
      case .silence: "did not answer"
      }
    }

    /// Whether what it decoded may have caused it.
    func isSuspect(_ exit: ChildExit) -> Bool {
      switch self {
      case .end: exit.isOfItself
      case .garbage, .excess: true
      case .silence: false
      }
    }
  }

  /// The names of the codecs that only a worker decodes.
  private static var decodedOnlyHere: String {
    let names = Codec.allCases.filter { $0.needsWorker && MediaCodec(name: $0.rawValue) != nil }.map(\.properties.name)
    return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
  }

  /// Ends the process and reports why.
  private func crashed(_ fault: Fault, _ state: inout State) -> MediaWorkerError {
    guard let process = state.process.take() else { return .unavailable("there is no process") }
    state.crashes += 1
    let exit = launcher.end(process)
    if fault.isSuspect(exit) { state.isSuspect = true }
    let clause = fault.clause(patience) ?? "\(exit)"
    let rest =
      if state.crashes < Self.maximumCrashes {
        ""
      } else if state.isSuspect {
        ", for the third time: the rest is not verified"
      } else {
        ", for the third time: the rest of VP8 and VP9 is decoded in this process, and that of "
          + "\(Self.decodedOnlyHere) not verified"
      }
    report?(.notVerified("The decoding process \(process.id) \(clause)\(rest)."))
    return .ended(clause)
  }

  private func unresponsive(_ state: inout State) -> MediaWorkerError {
    _ = crashed(.silence, &state)
    return .unavailable("the process did not answer")
  }
}

/// What a log says of a worker. The values are sentences.
package enum WorkerNotice: Sendable, Hashable {
  /// Frames are not decoded, or were not.
  case notVerified(String)
  /// This process decodes what it can, because there is no worker.
  case replaced(String)

  package var sentence: String {
    switch self {
    case .notVerified(let sentence), .replaced(let sentence): sentence
    }
  }
}

extension ChildExit {
  /// Whether the process ended by an error of its own, which what it decoded may have caused.
  fileprivate var isOfItself: Bool {
    guard case .signal(let number) = self else { return false }
    return [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS].contains(Int32(clamping: number))
  }
}
