import Codecs
import Media
import NIOCore
import Synchronization

/// Decodes one participant's frames, to know whether they can be: all of them in order, as long as the participant's frames keep to
/// a budget and the pool has time.
///
/// ```
///               the budget or the room is exceeded            a keyframe that there is budget and room for
///   decoding ──────────────────────────────────────► leaving out ─────────────────────────────────────────► decoding
/// ```
///
/// Audio is skipped packet by packet. Nothing waits here: who brings a frame continues at once.
final class FrameVerifier: Sendable {
  /// What is known so far.
  struct Counts: Sendable {
    /// Frames that could not be decoded.
    var errors: [MediaKind: UInt64] = [:]
    /// Frames that were not decoded: because they cost too much, because there was no time, or because they build on one that was
    /// not.
    var unverified: [MediaKind: UInt64] = [:]
    /// When the first frame of each track had been decoded.
    var firstDecoded: [MediaKind: MonotonicInstant] = [:]
    /// The size of the last frame that was decoded.
    var lastSize: VideoSize?
  }

  private struct State {
    var queue = BoundedFrameQueue<EncodedFrame>()
    /// What is being decoded; nil while nothing is, and once nobody waits for it any more.
    var decoding: MediaKind?
    /// Whether this waits for a thread of the pool, or has one.
    var isScheduled = false
    var budget = VerificationBudget()
    /// The size of the last keyframe.
    var size: VideoSize?
    var counts = Counts()
  }

  private struct Decoders {
    var videoFrame: VP8Decoder?
    var audio: OpusDecoder?

    /// - Returns: the frame's size; nil for audio, and for a frame that is not to be shown.
    mutating func decode(_ frame: EncodedFrame) throws(CodecError) -> VideoSize? {
      switch frame.codec {
      case .vp8:
        if videoFrame == nil { videoFrame = try VP8Decoder() }
        return try videoFrame?.decode(frame.payload)
      case .opus:
        if audio == nil { audio = try OpusDecoder() }
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

  /// Takes the next frame of a track in decoding order.
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

  /// Puts a frame into the queue, if it can be decoded and there is budget and room for it.
  private func take(_ frame: EncodedFrame, state: inout State) -> Bool {
    if frame.isKeyframe { state.size = frame.size ?? state.size }
    var budget = state.budget
    let (size, waiting, cost) = (state.size, state.queue.bytes, frame.waitingCost)
    let admission = state.queue.dropper.admit(frame, of: .init(of: frame)) {
      if frame.codec.kind == .video, let size, !budget.spend(on: size, now: frame.arrived) { return .none }
      return pool.reserve(cost, of: waiting) ? .ample : .none
    }
    state.budget = budget
    guard case .admitted = admission else { return false }
    state.queue.append(frame, bytes: cost)
    return true
  }

  /// Decodes what waits. Called by the pool.
  ///
  /// - Parameter turn: for how long at least; nil for all of it.
  /// - Returns: whether more waits.
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

  // MARK: What is known

  var counts: Counts { state.withLock { $0.counts } }

  /// Whether all that was taken has been decoded.
  var isIdle: Bool { state.withLock { !$0.isScheduled } }

  /// What still waits will not be decoded, and the result of what is being decoded is not waited for.
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
