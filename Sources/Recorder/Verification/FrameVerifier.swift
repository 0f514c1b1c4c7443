import Codecs
package import Media
import MediaWorker
import NIOCore
import Synchronization

/// Decodes the frames of one stream to verify them: all of them in order, as long as its participant stays within a
/// budget and the pool has time.
///
/// ```
///               the budget or the memory is exceeded          a keyframe within the budget and the memory
///   decoding ──────────────────────────────────────► skipping ─────────────────────────────────────────► decoding
/// ```
///
/// Audio is skipped packet by packet. The caller never waits.
///
/// The order of overload: docs/architecture.md.
package final class FrameVerifier: Sendable {
  /// The results of a verifier.
  package struct Counts: Sendable {
    /// Frames that could not be decoded.
    package var errors: [MediaKind: UInt64] = [:]
    /// Frames that were not decoded: because they cost too much, because there was no time, because no process decodes them, or
    /// because they depend on one that was not decoded.
    package var unverified: [MediaKind: UInt64] = [:]
    /// When the first frame of each track had been decoded.
    package var firstDecoded: [MediaKind: MonotonicInstant] = [:]
    /// The size of the last frame that was decoded.
    package var lastSize: VideoSize?
    /// The level of the last packet of audio that was decoded: its root mean square, from 0 to 1.
    package var audioLevel: Double?
  }

  private struct State {
    var queue = BoundedFrameQueue<EncodedFrame>()
    /// The kind of the frame that is being decoded; nil while there is none, and after `giveUp`.
    var decoding: MediaKind?
    /// Whether this verifier waits for a thread of the pool, or has one.
    var isScheduled = false
    /// The size of the last video frame that stated one: VP9 changes its size without keyframes, too.
    var size: VideoSize?
    var lacksKeyframe = false
    var counts = Counts()
  }

  private struct Decoders {
    let worker: MediaWorker
    var video = DecodersByCodec<VideoDecoder>()
    var audio = DecodersByCodec<AudioDecoder>()

    var lacksKeyframe: Bool { video.current?.lacksKeyframe ?? false }

    /// - Returns: the frame's size, nil for audio and for a frame that is not shown, and the level of audio.
    mutating func decode(_ frame: EncodedFrame) throws(CodecError) -> (size: VideoSize?, level: Double?) {
      switch frame.codec.kind {
      case .video:
        let decoder = try video.decoder(of: frame.codec, isStart: frame.isKeyframe) { () throws(CodecError) in
          try VideoDecoder(frame.codec, in: worker, prefersWorker: true)
        }
        return (try decoder.decode(frame.payload), nil)
      case .audio:
        let decoder = try audio.decoder(of: frame.codec, isStart: true) { () throws(CodecError) in
          try AudioDecoder(frame.codec, in: worker)
        }
        return (nil, try decoder.decode(frame.payload).level)
      }
    }
  }

  private let share: VerificationShare
  private let stream: Int
  private let state = Mutex(State())
  private let decoders: Mutex<Decoders>

  /// - Parameters:
  ///   - share: what all verifiers of the participant share.
  ///   - stream: the number of the stream.
  package init(_ share: VerificationShare, stream: Int = 1) {
    self.share = share
    self.stream = stream
    decoders = Mutex(Decoders(worker: share.worker))
  }

  deinit { giveUp() }

  // MARK: Frames

  /// Submits the next frame of a track, in decoding order.
  package func examine(_ frame: EncodedFrame, now: MonotonicInstant) {
    let isToBeScheduled = state.withLock { state in
      guard take(frame, state: &state) else {
        state.counts.unverified[frame.codec.kind, default: 0] += 1
        return false
      }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isToBeScheduled { share.pool.schedule(self, now: now) }
  }

  /// Queues a frame, if it can be decoded and fits the budget and the memory.
  private func take(_ frame: EncodedFrame, state: inout State) -> Bool {
    state.size = frame.size ?? state.size
    let (size, cost) = (state.size, frame.waitingCost)
    let admission = state.queue.dropper.admit(frame, of: track(of: frame)) {
      if frame.codec.kind == .video, let size, !share.spend(on: size, of: stream, now: frame.arrived) { return .full }
      return share.reserve(cost) ? .ample : .full
    }
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
        do throws(CodecError) {
          let (size, level) = try decoders.decode(frame)
          let moment = now()
          state.withLock { state in
            guard let kind = state.decoding.take() else { return }
            state.counts.firstDecoded[kind] = state.counts.firstDecoded[kind] ?? moment
            state.counts.lastSize = size ?? state.counts.lastSize
            state.counts.audioLevel = level ?? state.counts.audioLevel
            if kind == .video { state.lacksKeyframe = false }
          }
        } catch {
          let lacksKeyframe = decoders.lacksKeyframe
          state.withLock { state in
            guard let kind = state.decoding.take() else { return }
            if error.isUnavailable {
              state.counts.unverified[kind, default: 0] += 1
            } else {
              state.counts.errors[kind, default: 0] += 1
            }
            if kind == .video { state.lacksKeyframe = lacksKeyframe }
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
      share.release(bytes)
      state.decoding = frame.codec.kind
      return frame
    }
  }

  private func track(of frame: EncodedFrame) -> TrackID {
    TrackID(of: frame.owner, stream: stream, kind: frame.codec.kind)
  }

  // MARK: Results

  /// The results so far.
  package var counts: Counts { state.withLock { $0.counts } }

  /// Whether video fails up to its next keyframe, because the process that decoded it has ended, and could be decoded from there on.
  package var lacksKeyframe: Bool { state.withLock { $0.lacksKeyframe } }

  /// Whether all submitted frames have been decoded.
  package var isIdle: Bool { state.withLock { !$0.isScheduled } }

  /// Discards the queued frames, and the result of the one that is being decoded.
  package func giveUp() {
    state.withLock { state in
      if let kind = state.decoding.take() { state.counts.unverified[kind, default: 0] += 1 }
      share.release(state.queue.bytes)
      for (frame, _) in state.queue.takeAll() {
        state.counts.unverified[frame.codec.kind, default: 0] += 1
        state.queue.dropper.drop(frame, of: track(of: frame))
      }
    }
  }
}
