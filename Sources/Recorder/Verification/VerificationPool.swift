import CThreads
import Glibc
import Media
import NIOPosix
import Synchronization

/// Threads that decode frames to verify them: each participant's frames in order, and the participants in turn.
///
/// Their priority is lower than that of the threads that receive and write: if this machine does not have time for
/// everything, verification waits. The amount of waiting frames is limited, in total and for each participant; frames
/// beyond the limits are counted and not decoded.
package final class VerificationPool: Sendable {
  /// The maximum bytes of waiting frames.
  package struct Bounds: Sendable {
    /// The limit of all participants together.
    var all: Int
    /// The minimum share of one participant. While less than half of `all` waits, a participant may use half of that;
    /// otherwise all participants have equal parts of the half, but at least this.
    var minimumShare: Int

    package init(all: Int = 16 << 20, minimumShare: Int = 64 << 10) {
      self.all = all
      self.minimumShare = minimumShare
    }

    /// - Parameter share: the number of pools.
    init(share: Int) {
      self.init(all: max(2 << 20, (16 << 20) / max(1, share)))
    }
  }

  /// How long a participant's frames are decoded before the next participant's.
  private static let turn = Duration.milliseconds(10)
  /// The niceness of the threads, see ``setNiceness(_:)``.
  private static let niceness = Atomic<Int32>(5)
  /// What the threads of all pools have used, in nanoseconds.
  private static let usedTime = Atomic<Int64>(0)

  private let bounds: Bounds
  /// Nil if frames are decoded on the caller's thread.
  private let threads: NIOThreadPool?
  private let waiting = Atomic(0)
  private let participants = Atomic(0)

  /// - Parameter count: the number of threads. With 0, frames are decoded immediately on the caller's thread.
  package init(threads count: Int, bounds: Bounds = Bounds()) {
    self.bounds = bounds
    threads = count > 0 ? NIOThreadPool(numberOfThreads: count) : nil
    threads?.start()
  }

  deinit {
    threads?.shutdownGracefully { _ in }
  }

  // MARK: The process

  /// Sets how low the priority of the threads of all pools is; for a program with several calls on one machine, whose receiving must not
  /// wait for the verification of another.
  package static func setNiceness(_ niceness: Int32) { Self.niceness.store(niceness, ordering: .relaxed) }

  /// The CPU time that the threads of all pools of this process have used, without that of other processes that decode for them.
  package static var processorTime: Duration { .nanoseconds(usedTime.load(ordering: .relaxed)) }

  // MARK: Waiting frames

  func participantBegan() { participants.wrappingAdd(1, ordering: .relaxed) }

  func participantEnded() { participants.wrappingSubtract(1, ordering: .relaxed) }

  /// Reserves memory for frames of a participant of whom `held` bytes wait.
  ///
  /// - Returns: false if there is none left.
  func reserve(_ bytes: Int, of held: Int) -> Bool {
    let all = waiting.wrappingAdd(bytes, ordering: .relaxed).newValue
    let half = bounds.all / 2
    let share = all <= half ? half / 2 : max(bounds.minimumShare, half / max(1, participants.load(ordering: .relaxed)))
    if all <= bounds.all, held + bytes <= share { return true }
    waiting.wrappingSubtract(bytes, ordering: .relaxed)
    return false
  }

  func release(_ bytes: Int) { waiting.wrappingSubtract(bytes, ordering: .relaxed) }

  /// Bytes of waiting frames.
  package var waitingBytes: Int { waiting.load(ordering: .relaxed) }

  // MARK: Scheduling

  /// Schedules the decoding of a participant's frames.
  ///
  /// - Parameter now: the time of decoding, if it is done immediately.
  func schedule(_ check: FrameVerifier, now: MonotonicInstant) {
    guard let threads else {
      _ = check.decode(for: nil) { now }
      return
    }
    threads.submit { [self] state in
      guard case .active = state else { return }
      DedicatedThread.lowerPriority(to: Self.niceness.load(ordering: .relaxed))
      let before = cthreads_thread_time()
      let remains = check.decode(for: Self.turn, now: { .now })
      Self.usedTime.wrappingAdd(cthreads_thread_time() - before, ordering: .relaxed)
      if remains { schedule(check, now: .now) }
    }
  }
}
