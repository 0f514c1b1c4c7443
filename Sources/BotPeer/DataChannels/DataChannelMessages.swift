public import SCTP
internal import Synchronization

/// The received messages of a data channel, in the order in which the association delivers them; for one reader.
public final class DataChannelMessages: AsyncSequence, Sendable {
  public typealias Element = DataChannelMessage

  /// The bytes, and the number, of waiting messages at which the participant must pause, and those at which they may
  /// continue.
  static let pausingBytes = 1 << 20
  static let pausingCount = 4_096
  private static let resumingBytes = 256 << 10
  private static let resumingCount = 1_024
  /// What an empty message costs.
  private static let overhead = 64

  private struct State {
    var messages: [DataChannelMessage] = []
    /// The index of the next message.
    var first = 0
    var bytes = 0
    var isFinished = false
    var isPaused = false
    var reader: CheckedContinuation<DataChannelMessage?, Never>?

    var count: Int { messages.count - first }

    mutating func pop() -> DataChannelMessage? {
      guard first < messages.count else { return nil }
      let message = messages[first]
      messages[first] = .text("")
      first += 1
      bytes -= message.byteCount + DataChannelMessages.overhead
      if first == messages.count || first > 1_024 && first * 2 > messages.count {
        messages.removeFirst(first)
        first = 0
      }
      return message
    }
  }

  private let state = Mutex(State())
  /// Called when the participant may send again.
  private let resume: @Sendable (ObjectIdentifier) -> Void

  /// - Parameter resume: is called with the identifier of this object.
  init(resume: @escaping @Sendable (ObjectIdentifier) -> Void) {
    self.resume = resume
  }

  /// Adds a message.
  ///
  /// - Returns: whether the participant must pause now.
  func append(_ message: DataChannelMessage) -> Bool {
    let (reader, pauses) = state.withLock { state -> (CheckedContinuation<DataChannelMessage?, Never>?, Bool) in
      if state.isFinished { return (nil, false) }
      if let reader = state.reader {
        state.reader = nil
        return (reader, false)
      }
      state.messages.append(message)
      state.bytes += message.byteCount + Self.overhead
      guard !state.isPaused, state.bytes > Self.pausingBytes || state.count > Self.pausingCount else {
        return (nil, false)
      }
      state.isPaused = true
      return (nil, true)
    }
    reader?.resume(returning: message)
    return pauses
  }

  /// Ends the sequence after the messages that wait, or at once.
  func finish(discarding: Bool) {
    let (reader, resumes) = state.withLock { state -> (CheckedContinuation<DataChannelMessage?, Never>?, Bool) in
      state.isFinished = true
      if discarding {
        state.messages = []
        state.first = 0
        state.bytes = 0
      }
      defer {
        state.reader = nil
        if discarding { state.isPaused = false }
      }
      return (state.reader, discarding && state.isPaused)
    }
    reader?.resume(returning: nil)
    if resumes { resume(ObjectIdentifier(self)) }
  }

  private func next() async -> DataChannelMessage? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (ready, resumes) = state.withLock { state -> (DataChannelMessage??, Bool) in
          if let message = state.pop() {
            let isLow = state.bytes <= Self.resumingBytes && state.count <= Self.resumingCount
            let resumes = state.isPaused && isLow
            if resumes { state.isPaused = false }
            return (.some(message), resumes)
          }
          if state.isFinished || Task.isCancelled || state.reader != nil { return (.some(nil), false) }
          state.reader = continuation
          return (nil, false)
        }
        if let ready { continuation.resume(returning: ready) }
        if resumes { resume(ObjectIdentifier(self)) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        defer { state.reader = nil }
        return state.reader
      }
      reader?.resume(returning: nil)
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(messages: self) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let messages: DataChannelMessages

    /// Returns the next message; nil after the channel is closed, or when the task is cancelled.
    public mutating func next() async -> DataChannelMessage? { await messages.next() }
  }
}
