import HTTPTransport
import Logging
internal import Media
import NIOCore
import Signalling
import Synchronization

/// Carrying out what `CallSignalling` decides, and staying logged in.
extension SocketIOClient {
  /// Gives an input to the pure state and carries out what follows. Sends in the order of the calls, under the lock.
  func perform(
    _ input: (inout CallSignalling, MonotonicInstant) -> [CallSignalling.Action]
  ) {
    let (notes, ignored) = state.withLock { state in
      carryOut(input(&state.signalling, .now), in: &state)
    }
    for note in notes { log(note, level: .info) }
    for sentence in ignored { log("A message of the server is ignored: \(sentence)", level: .warning) }
  }

  private func carryOut(_ actions: [CallSignalling.Action], in state: inout State) -> ([String], [String]) {
    var notes: [String] = []
    var ignored: [String] = []
    for action in actions {
      switch action {
      case .send(let packet):
        state.transport?.send(packet)
      case .deliver(let event):
        state.pending.append(event)
        state.wakeDelivery?.yield()
        switch event {
        case .closed, .rejected:
          state.isClosed = true
          state.reconnection?.leave()
          state.transport?.close()
        default: break
        }
      case .loggedIn(let generation):
        notes.append("Logged in with revision \(generation.rawValue) of Engine.IO.")
        state.firstLogin?.resume(returning: .success(()))
        state.firstLogin = nil
      case .end(let end):
        state.end = end
        state.transport?.close()
      case .ignored(let sentence): ignored.append(sentence)
      case .note(let sentence): notes.append(sentence)
      }
    }
    return (notes, ignored)
  }

  private func log(_ text: String, level: Logger.Level) {
    guard let suppressedCount = logLimiter.withLock({ $0.consume(now: .now) }) else { return }
    logger.log(
      level: level, "\(text)",
      metadata: suppressedCount > 0 ? ["others not logged since the last line": "\(suppressedCount)"] : nil)
  }

  // MARK: Staying logged in

  func makeReconnectingSession() -> ReconnectingSession {
    ReconnectingSession(
      .init(
        minimumDelay: options.minimumRetryDelay, maximumDelay: options.maximumRetryDelay,
        resetAge: options.backoffResetAge)
    ) { [group = connector.group] in try? await group.any().sleep(for: $0) }
  }

  /// Uses the first connection and opens further ones, until the owner leaves or the server refuses us. Each is opened in the
  /// way that the last one was. If there is no login on the first connection, that is the error of `connect`, and no event.
  func stayLoggedIn(
    _ reconnection: ReconnectingSession, from first: any EngineIOTransport, _ firstWay: EngineIOConnector.Way
  ) async {
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.wakeDelivery = wake }
    let delivery = Task { for await _ in wakes { await deliverPending() } }
    var way = firstWay
    await reconnection.run(
      from: first,
      connect: { () async throws(ReconnectionState.ConnectionEnd) -> any EngineIOTransport in
        do throws(SignallingConnectError) {
          let opened = try await connector.connect(preferring: way)
          way = opened.way
          return opened.transport
        } catch {
          if case .unauthorized(let sentence) = error { throw .rejected(reason: sentence) }
          throw .lost(reason: error.description)
        }
      },
      follow: { transport in
        let end = await follow(transport)
        if fail(end.connectError) { return .finished }
        switch end {
        case .lost(let sentence): return .lost(reason: sentence)
        case .loginRefused(let sentence): return .rejected(reason: sentence)
        }
      },
      deliver: { event in perform { _, _ in [.deliver(event)] } })
    wake.finish()
    await delivery.value
    if state.withLock({ $0.isLeaving || $0.isClosed }) { inbox.finish() }
  }

  /// Ends the first connection with an error.
  ///
  /// - Returns: false if there was a login before.
  private func fail(_ error: SignallingConnectError) -> Bool {
    let waiting = state.withLock { state in
      defer { state.firstLogin = nil }
      if state.firstLogin != nil { state.isStarted = false }
      return state.firstLogin
    }
    waiting?.resume(returning: .failure(error))
    return waiting != nil
  }

  /// Handles the packets of a connection until it ends.
  private func follow(_ transport: any EngineIOTransport) async -> CallSignalling.End {
    let isWanted = state.withLock { state in
      guard !state.isLeaving else { return false }
      state.transport = transport
      state.end = nil
      state.signalling.opened(generation: transport.generation, now: .now)
      return true
    }
    if isWanted {
      let timers = Task { await runTimers() }
      for await packet in transport.packets {
        perform { signalling, now in signalling.received(packet, now: now) }
        // While the reader of the events is behind, no further packet is read.
        while state.withLock({ $0.pending.count > 64 && !$0.isLeaving }) {
          do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        if state.withLock({ $0.end != nil || $0.isClosed }) { break }
      }
      timers.cancel()
    }
    transport.close()
    let reason = await transport.ended()
    return state.withLock { state in
      state.signalling.closed()
      state.transport = nil
      return state.end ?? .lost(reason)
    }
  }

  /// Polls the pure state when it is due. New deadlines are found after 0.25 s at the latest.
  private func runTimers() async {
    while !Task.isCancelled {
      let deadline = state.withLock { $0.signalling.deadline }
      let wait = deadline.map { $0 - .now } ?? .milliseconds(250)
      do { try await Task.sleep(for: min(max(wait, .milliseconds(5)), .milliseconds(250))) } catch { return }
      perform { signalling, now in signalling.poll(now: now) }
    }
  }

  /// Moves the pending events into the inbox, in order.
  private func deliverPending() async {
    while let event = state.withLock({ state in state.pending.isEmpty ? nil : state.pending.removeFirst() }) {
      await inbox.deliver(event)
    }
  }
}

extension CallSignalling.End {
  /// The error of `connect`, if this is the end of the first connection.
  fileprivate var connectError: SignallingConnectError {
    switch self {
    case .lost(let text): .rejected(text)
    case .loginRefused(let text): .unauthorized(text)
    }
  }
}
