internal import CMediaSockets
internal import Glibc
internal import MediaMessages
internal import NIOCore
internal import Synchronization

/// The worker of one participant, which decodes all their streams in a process of its own. It is started by the first request, and
/// started again after a crash, at most twice.
///
/// Each request waits for its response: they are for threads that may wait, never for an event loop. Requests of several threads
/// wait for each other.
package final class MediaWorker: Sendable {
  /// After this many crashes nothing more is decoded.
  package static let maximumCrashes = 3
  /// The maximum CPU time of a request, in nanoseconds.
  private static let processorTime: Int64 = 2_000_000_000
  /// How often we look for what a worker does that has not answered, in milliseconds; how often in a row it may have used no CPU time,
  /// and how often we look at all. A machine may be slow, but a worker that was stopped never answers.
  private static let interval: Int32 = 500
  private static let maximumIdle = 10
  private static let maximumRounds = 60

  private struct State {
    var process: MediaLauncher.Started?
    /// The number of processes so far. A decoder is of one of them.
    var generation = 0
    var crashes = 0
    var lastNumber: UInt32 = 0
    /// The CPU time of the process after its last response.
    var usedTime: Int64 = 0
    var decoders = Set<UInt8>()
  }

  private let launcher: MediaLauncher
  private let report: (@Sendable (String) -> Void)?
  private let state = Mutex(State())
  private let spentTime = Atomic(0)
  /// Decoders that are to be ended.
  private let abandoned = Mutex<[Decoder]>([])

  /// - Parameters:
  ///   - launcher: starts the process.
  ///   - report: called with a sentence for the log, when the process crashed or when there is none.
  package init(_ launcher: MediaLauncher = .background, report: (@Sendable (String) -> Void)? = nil) {
    self.launcher = launcher
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

  /// The CPU time that all requests together have taken.
  package var processorTime: Duration { .nanoseconds(spentTime.load(ordering: .relaxed)) }

  // MARK: Decoders

  /// A decoder of the worker.
  struct Decoder {
    let number: UInt8
    /// The process that has it.
    let generation: Int
  }

  func open(_ codec: MediaCodec) throws(MediaWorkerError) -> Decoder {
    try state.withLock { state throws(MediaWorkerError) in
      try start(&state)
      try closeAbandoned(&state)
      guard let number = (0..<UInt8(MediaLimits.decoders)).first(where: { !state.decoders.contains($0) }) else {
        throw .unavailable("the participant has too many streams")
      }
      guard case .done = try send(.openDecoder(number, codec), &state) else { throw crashed("sent garbage", &state) }
      state.decoders.insert(number)
      return Decoder(number: number, generation: state.generation)
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
      guard case .done = try send(.closeDecoder(decoder.number), &state) else { throw crashed("sent garbage", &state) }
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
      let response = try send(body, &state)
      guard let result = read(response, UnsafeRawBufferPointer(process.memory)) else {
        throw crashed("sent garbage", &state)
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
      if generation == nil { try start(&state) }
      guard let process = state.process, generation == nil || state.generation == generation else {
        throw .ended("has ended")
      }
      write(process.memory)
      let response = try send(body, with: descriptors, &state)
      guard let result = read(response, UnsafeRawBufferPointer(process.memory)) else {
        throw crashed("sent garbage", &state)
      }
      return (result, state.generation)
    }
  }

  // MARK: The process

  private func start(_ state: inout State) throws(MediaWorkerError) {
    if state.process != nil { return }
    guard state.crashes < Self.maximumCrashes else {
      throw .unavailable("its decoder crashed \(state.crashes) times")
    }
    do throws(MediaWorkerError) {
      state.process = try launcher.startWorker()
    } catch {
      if let report, let reason = launcher.takeReasonOfAbsence() {
        report("\(reason) H.264 and G.722 are recorded, but not verified.")
      }
      throw error
    }
    state.generation += 1
    state.decoders = []
    state.usedTime = 0
  }

  private func send(
    _ body: MediaRequest.Body, with descriptors: [Int32] = [], _ state: inout State
  ) throws(MediaWorkerError) -> MediaResponse.Body {
    guard let process = state.process else { throw .unavailable("there is no process") }
    let before = cmedia_processor_time(process.id)
    var now = before
    defer { spentTime.wrappingAdd(Int(max(0, now - before)), ordering: .relaxed) }
    if before - state.usedTime > Self.processorTime { throw crashed("used the processor without a request", &state) }
    state.lastNumber &+= 1
    let bytes = MediaRequest(state.lastNumber, body).encoded
    guard cmedia_send(process.socket, bytes, bytes.count, descriptors, Int32(descriptors.count)) == 0 else {
      throw crashed(nil, &state)
    }
    var response = [UInt8](repeating: 0, count: MediaLimits.messageBytes)
    var received: Int
    var (idle, used, rounds) = (0, before, 0)
    repeat {
      received = cmedia_receive(process.socket, &response, response.count, Self.interval, nil, nil)
      guard received == -Int(ETIMEDOUT) else { break }
      now = cmedia_processor_time(process.id)
      if now - before > Self.processorTime { throw crashed("needed more than 2 s of CPU time for a frame", &state) }
      (idle, used, rounds) = (now > used ? 0 : idle + 1, now, rounds + 1)
    } while idle < Self.maximumIdle && rounds < Self.maximumRounds
    if received == -Int(ETIMEDOUT) { throw unresponsive(&state) }
    guard received > 0 else { throw crashed(received == -Int(EMSGSIZE) ? "sent garbage" : nil, &state) }
    guard let parsed = try? MediaResponse(parsing: Array(response.prefix(received))), parsed.number == state.lastNumber
    else { throw crashed("sent garbage", &state) }
    now = cmedia_processor_time(process.id)
    state.usedTime = now
    if case .failed(let reason) = parsed.body { throw .refused(reason) }
    return parsed.body
  }

  /// Ends the process and reports why.
  ///
  /// - Parameter reason: a clause; nil if the process ended by itself.
  private func crashed(_ reason: String?, _ state: inout State) -> MediaWorkerError {
    guard let process = state.process.take() else { return .unavailable("there is no process") }
    state.crashes += 1
    let exit = launcher.end(process)
    let clause = reason ?? "\(exit)"
    let rest = state.crashes < Self.maximumCrashes ? "" : ", for the third time: the rest is not verified"
    report?("The decoding process \(process.id) \(clause)\(rest).")
    return .ended(clause)
  }

  private func unresponsive(_ state: inout State) -> MediaWorkerError {
    let error = crashed("did not answer", &state)
    return .unavailable(error.description)
  }
}
