import Codecs
import Media
import NIOCore
import Synchronization

/// Decodes one participant's frames to verify them: all of them in order, as long as they stay within a budget and the
/// pool has time.
///
/// ```
///               the budget or the memory is exceeded          a keyframe within the budget and the memory
///   decoding ──────────────────────────────────────► skipping ─────────────────────────────────────────► decoding
/// ```
///
/// Audio is skipped packet by packet. The caller never waits.
///
/// The order of overload: docs/architecture.md.
final class FrameVerifier: Sendable {
  /// The results so far.
  struct Counts: Sendable {
    /// Frames that could not be decoded.
    var errors: [MediaKind: UInt64] = [:]
    /// Frames that were not decoded: because they cost too much, because there was no time, or because they depend on
    /// one that was not decoded.
    var unverified: [MediaKind: UInt64] = [:]
    /// When the first frame of each track had been decoded.
    var firstDecoded: [MediaKind: MonotonicInstant] = [:]
    /// The size of the last frame that was decoded.
    var lastSize: VideoSize?
  }

  private struct State {
    var queue = BoundedFrameQueue<EncodedFrame>()
    /// The kind of the frame that is being decoded; nil while there is none, and after `giveUp`.
    var decoding: MediaKind?
    /// Whether this verifier waits for a thread of the pool, or has one.
    var isScheduled = false
    var budget = VerificationBudget()
    /// The size of the last keyframe.
    var size: VideoSize?
    var counts = Counts()
  }

  private struct Decoders {
    var video: VideoDecoder?
    var audio: AudioDecoder?

    /// - Returns: the frame's size; nil for audio, and for a frame that is not shown.
    mutating func decode(_ frame: EncodedFrame) throws(CodecError) -> VideoSize? {
      switch frame.codec.kind {
      case .video:
        if video?.codec != frame.codec { video = try VideoDecoder(frame.codec) }
        return try video?.decode(frame.payload)
      case .audio:
        if audio?.codec != frame.codec { audio = try AudioDecoder(frame.codec) }
        _ = try audio?.decode(frame.payload)
        return nil
      }
    }
  }

  private let pool: VerificationPool
  private let state = Mutex(State())
  private let decoders = Mutex(Decoders())

  init(_ pool: VerificationPool) {
    self.pool = pool
    pool.participantBegan()
  }

  deinit {
    giveUp()
    pool.participantEnded()
  }

  // MARK: Frames

  /// Submits the next frame of a track, in decoding order.
  func examine(_ frame: EncodedFrame, now: MonotonicInstant) {
    let isToBeScheduled = state.withLock { state in
      guard take(frame, state: &state) else {
        state.counts.unverified[frame.codec.kind, default: 0] += 1
        return false
      }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isToBeScheduled { pool.schedule(self, now: now) }
  }

  /// Queues a frame, if it can be decoded and fits the budget and the memory.
  private func take(_ frame: EncodedFrame, state: inout State) -> Bool {
    if frame.isKeyframe { state.size = frame.size ?? state.size }
    var budget = state.budget
    let (size, waiting, cost) = (state.size, state.queue.bytes, frame.waitingCost)
    let admission = state.queue.dropper.admit(frame, of: .init(of: frame)) {
      if frame.codec.kind == .video, let size, !budget.spend(on: size, now: frame.arrived) { return .full }
      return pool.reserve(cost, of: waiting) ? .ample : .full
    }
    state.budget = budget
    guard case .admitted = admission else { return false }
    state.queue.append(frame, bytes: cost)
    return true
  }

  /// Decodes queued frames. Called by the pool.
  ///
  /// - Parameter turn: the minimum time to continue; nil to decode all of them.
  /// - Returns: whether frames remain.
  func decode(for turn: Duration?, now: () -> MonotonicInstant) -> Bool {
    let end = turn.map { MonotonicInstant.now + $0 }
    return decoders.withLock { decoders in
      while let frame = next() {
        do {
          let size = try decoders.decode(frame)
          let moment = now()
          state.withLock { state in
            guard let kind = state.decoding.take() else { return }
            state.counts.firstDecoded[kind] = state.counts.firstDecoded[kind] ?? moment
            state.counts.lastSize = size ?? state.counts.lastSize
          }
        } catch {
          state.withLock { state in
            if let kind = state.decoding.take() { state.counts.errors[kind, default: 0] += 1 }
          }
        }
        if let end, MonotonicInstant.now >= end { return true }
      }
      return false
    }
  }

  private func next() -> EncodedFrame? {
    state.withLock { state in
      guard let (frame, bytes) = state.queue.popFirst() else {
        state.isScheduled = false
        return nil
      }
      pool.release(bytes)
      state.decoding = frame.codec.kind
      return frame
    }
  }

  // MARK: Results

  var counts: Counts { state.withLock { $0.counts } }

  /// Whether all submitted frames have been decoded.
  var isIdle: Bool { state.withLock { !$0.isScheduled } }

  /// Discards the queued frames, and the result of the one that is being decoded.
  func giveUp() {
    state.withLock { state in
      if let kind = state.decoding.take() { state.counts.unverified[kind, default: 0] += 1 }
      pool.release(state.queue.bytes)
      for (frame, _) in state.queue.takeAll() {
        state.counts.unverified[frame.codec.kind, default: 0] += 1
        state.queue.dropper.drop(frame, of: .init(of: frame))
      }
    }
  }
}

/// A limit on the cost of decoding one participant's frames, so that they do not delay those of others.
///
/// The cost is counted in pixels, which determine libvpx's time regardless of a frame's bytes: 3 to 4 ns each. A change
/// of size costs the same again, because libvpx reallocates its buffers. It is counted and not measured, so that the
/// same call is always verified in the same way.
struct VerificationBudget: Sendable {
  /// The sustained rate: slightly more than 1920x1080 at 30 frames a second.
  static let pixelsPerSecond = 70_000_000
  /// The maximum after a pause.
  static let burst = 2 * pixelsPerSecond

  /// The fixed cost of a frame of any size.
  static let pixelsPerVideoFrame = 20_000.0

  private var left = Double(burst)
  private var last: MonotonicInstant?
  private var size: VideoSize?

  /// Deducts a frame's cost, if the budget suffices.
  ///
  /// - Returns: whether it did.
  mutating func spend(on size: VideoSize, now: MonotonicInstant) -> Bool {
    if let last, now > last {
      left = min(Double(Self.burst), left + (now - last).seconds * Double(Self.pixelsPerSecond))
    }
    last = max(last ?? now, now)
    let pixels = Double(size.width) * Double(size.height) + Self.pixelsPerVideoFrame
    let cost = self.size == size ? pixels : 2 * pixels
    guard cost <= left else { return false }
    left -= cost
    self.size = size
    return true
  }
}
