/// The bounded buffer between a signalling client and the reader of its events. When it is full, the client waits, so no
/// event is lost in the middle and memory stays bounded.
package struct SignallingEventBuffer: Sendable {
  private let continuation: AsyncStream<SignallingEvent>.Continuation

  /// - Parameter limit: the maximum number of waiting events.
  package static func make(limit: Int = 4_096) -> (SignallingEvents, SignallingEventBuffer) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SignallingEvent.self, bufferingPolicy: .bufferingOldest(max(1, limit)))
    return (SignallingEvents(stream), SignallingEventBuffer(continuation: continuation))
  }

  /// Delivers an event; waits while the buffer is full, until the task is cancelled.
  package func deliver(_ event: SignallingEvent) async {
    while case .dropped = continuation.yield(event) {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    }
  }

  /// Ends the events. Those that were delivered can still be read.
  package func finish() { continuation.finish() }
}
