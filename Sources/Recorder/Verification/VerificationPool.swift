import Media
import NIOPosix
import Synchronization

/// Threads on which frames are decoded to know whether they can be: each participant's in order, and the participants in turns.
///
/// Their priority is lower than that of the threads that receive and write: when this machine has not the time for everything,
/// verification is what waits. How much may wait is bounded, for all and for each; what exceeds that is counted and not decoded.
final class VerificationPool: Sendable {
  /// Bytes of frames that may wait.
  struct Bounds: Sendable {
    /// Of all participants together.
    var all: Int
    /// Of one, while less than half of that waits. Then each has an equal part of the half, and this at least.
    var leastShare: Int

    init(all: Int = 16 << 20, leastShare: Int = 64 << 10) {
      self.all = all
      self.leastShare = leastShare
    }

    /// - Parameter share: how many pools there are.
    init(share: Int) {
      self.init(all: max(2 << 20, (16 << 20) / max(1, share)))
    }
  }

  /// How long a participant's frames are decoded before it is another's turn.
  private static let turn = Duration.milliseconds(10)
  private static let niceness: Int32 = 5

  private let bounds: Bounds
  /// Nil where frames are decoded on the thread that brings them.
  private let threads: NIOThreadPool?
  private let waiting = Atomic(0)
  private let participants = Atomic(0)

  /// - Parameter count: of threads. With 0 frames are decoded at once, on the thread that brings them.
  init(threads count: Int, bounds: Bounds = Bounds()) {
    self.bounds = bounds
    threads = count > 0 ? NIOThreadPool(numberOfThreads: count) : nil
    threads?.start()
  }

  deinit {
    threads?.shutdownGracefully { _ in }
  }

  // MARK: What waits

  func participantBegan() { participants.wrappingAdd(1, ordering: .relaxed) }

  func participantEnded() { participants.wrappingSubtract(1, ordering: .relaxed) }

  /// Takes room for so many bytes of a participant of whom `held` wait.
  ///
  /// - Returns: false if there is none.
  func reserve(_ bytes: Int, of held: Int) -> Bool {
    let all = waiting.wrappingAdd(bytes, ordering: .relaxed).newValue
    let half = bounds.all / 2
    let share = all <= half ? half / 2 : max(bounds.leastShare, half / max(1, participants.load(ordering: .relaxed)))
    if all <= bounds.all, held + bytes <= share { return true }
    waiting.wrappingSubtract(bytes, ordering: .relaxed)
    return false
  }

  func release(_ bytes: Int) { waiting.wrappingSubtract(bytes, ordering: .relaxed) }

  /// Bytes that wait.
  var waitingBytes: Int { waiting.load(ordering: .relaxed) }

  // MARK: Turns

  /// Requests a thread that decodes a participant's frames.
  ///
  /// - Parameter now: what counts as the time of decoding where it is done at once.
  func schedule(_ check: FrameVerifier, now: MonotonicInstant) {
    guard let threads else {
      _ = check.decode(for: nil) { now }
      return
    }
    threads.submit { [self] state in
      guard case .active = state else { return }
      DedicatedThread.lowerPriority(to: Self.niceness)
      if check.decode(for: Self.turn, now: { .now }) { schedule(check, now: .now) }
    }
  }
}
