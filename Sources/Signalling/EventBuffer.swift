/// The bounded buffer between the source of events and their reader. When it is full, the source waits, so no event is lost
/// in the middle and memory stays bounded.
package struct EventBuffer<Event: Sendable>: Sendable {
  private let continuation: AsyncStream<Event>.Continuation

  /// - Parameter limit: the maximum number of waiting events.
  package static func make(limit: Int = 4_096) -> (AsyncStream<Event>, EventBuffer) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingOldest(max(1, limit)))
    return (stream, EventBuffer(continuation: continuation))
  }

  /// Delivers an event; waits while the buffer is full, until the task is cancelled.
  package func deliver(_ event: Event) async {
    while case .dropped = continuation.yield(event) {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    }
  }

  /// Ends the events. Those that were delivered can still be read.
  package func finish() { continuation.finish() }
}

/// The buffer between a signalling client and the reader of its events.
package typealias SignallingEventBuffer = EventBuffer<SignallingEvent>

extension EventBuffer<SignallingEvent> {
  package static func make(limit: Int = 4_096) -> (SignallingEvents, SignallingEventBuffer) {
    let (stream, buffer): (AsyncStream<SignallingEvent>, Self) = make(limit: limit)
    return (SignallingEvents(stream), buffer)
  }
}
