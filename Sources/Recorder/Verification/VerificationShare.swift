package import Media
package import MediaWorker
import Synchronization

/// What the verifiers of all streams of one participant share: the budget for decoding, the memory of waiting frames, and the process
/// that decodes what is not decoded in this one. So a participant with many streams has no more of them than others.
package final class VerificationShare: Sendable {
  let pool: VerificationPool
  let worker: MediaWorker
  private let budget = Mutex(VerificationBudget())
  /// Bytes of frames that wait.
  private let waiting = Atomic(0)

  /// - Parameters:
  ///   - launcher: starts that process.
  ///   - report: called with a sentence for the log when it crashes, or when there is none.
  package init(
    _ pool: VerificationPool, launcher: MediaLauncher = .background, report: (@Sendable (WorkerNotice) -> Void)? = nil
  ) {
    self.pool = pool
    worker = MediaWorker(launcher, report: report)
    pool.participantBegan()
  }

  deinit { pool.participantEnded() }

  /// Deducts a frame's cost from the budget, if that suffices; see ``VerificationBudget``.
  func spend(on size: VideoSize, of stream: Int, now: MonotonicInstant) -> Bool {
    budget.withLock { $0.spend(on: size, of: stream, processorTime: worker.processorTime, now: now) }
  }

  /// Reserves memory for a frame.
  ///
  /// - Returns: false if there is none left.
  func reserve(_ bytes: Int) -> Bool {
    guard pool.reserve(bytes, of: waiting.load(ordering: .relaxed)) else { return false }
    waiting.wrappingAdd(bytes, ordering: .relaxed)
    return true
  }

  func release(_ bytes: Int) {
    waiting.wrappingSubtract(bytes, ordering: .relaxed)
    pool.release(bytes)
  }
}

/// A limit on the cost of decoding one participant's frames, so that they do not delay those of others.
///
/// The cost is counted in pixels, which determine the time for VP8 and VP9 regardless of a frame's bytes: 3 to 4 ns each. A change
/// of size costs the same again, because the decoder reallocates its buffers. It is counted and not measured, so that the
/// same call is always verified in the same way.
///
/// What a frame of H.264 costs its sender determines: it can have any number of slices, and of parameter sets with other sizes. So the
/// CPU time of the decoding process is limited as well, far above that of usual calls.
package struct VerificationBudget: Sendable {
  /// The sustained rate: slightly more than 1920x1080 at 30 frames a second.
  static let pixelsPerSecond = 70_000_000
  /// The maximum after a pause.
  static let burst = 2 * pixelsPerSecond

  /// The fixed cost of a frame of any size.
  static let pixelsPerVideoFrame = 20_000.0

  /// The sustained share of a processor for the decoding process, and its maximum after a pause, in seconds.
  static let processorShare = 0.5
  static let processorBurst = 4.0

  private var left = Double(burst)
  private var secondsLeft = processorBurst
  private var lastProcessorTime = Duration.zero
  private var last: MonotonicInstant?
  /// The size of the last frame of each stream.
  private var sizes: [Int: VideoSize] = [:]

  package init() {}

  /// Deducts a frame's cost, if the budget suffices.
  ///
  /// - Parameters:
  ///   - stream: the number of the frame's stream, which has a decoder of its own.
  ///   - processorTime: what the participant's decoding process has used so far.
  /// - Returns: whether it did.
  package mutating func spend(
    on size: VideoSize, of stream: Int = 1, processorTime: Duration = .zero, now: MonotonicInstant
  ) -> Bool {
    if let last, now > last {
      left = min(Double(Self.burst), left + (now - last).seconds * Double(Self.pixelsPerSecond))
      secondsLeft = min(Self.processorBurst, secondsLeft + (now - last).seconds * Self.processorShare)
    }
    last = max(last ?? now, now)
    secondsLeft -= (processorTime - lastProcessorTime).seconds
    lastProcessorTime = processorTime
    guard secondsLeft > 0 else { return false }
    let pixels = Double(size.width) * Double(size.height) + Self.pixelsPerVideoFrame
    let cost = sizes[stream] == size ? pixels : 2 * pixels
    guard cost <= left else { return false }
    left -= cost
    sizes[stream] = size
    return true
  }
}
