import Media
import NIOCore
import Recorder

// Scripts use the recorder's internal time; the public methods use that of `ContinuousClock`.

extension RoomRecorder {
  nonisolated func begin(_ participant: ParticipantID, name: String? = nil, now: MonotonicInstant, wallClock: Double) {
    begin(participant, name: name, now: now.instant, wallClock: wallClock)
  }

  nonisolated func receive(_ event: MediaEvent, of participant: ParticipantID, now: MonotonicInstant) {
    receive(event, of: participant, now: now.instant)
  }

  nonisolated func end(_ participant: ParticipantID, reason: RecordingEndReason, now: MonotonicInstant) {
    end(participant, reason: reason, now: now.instant)
  }

  @discardableResult
  nonisolated func finish(
    reason: RecordingEndReason = .stopped, now: MonotonicInstant, within limit: Duration = .seconds(10)
  ) async -> [RecordingSummary] {
    await finish(reason: reason, now: now.instant, within: limit)
  }
}

extension RoomRecorder {
  @discardableResult
  nonisolated func pause(_ users: Set<String>? = nil, at now: MonotonicInstant) -> ContinuousClock.Instant {
    pause(users, at: now.instant)
  }

  @discardableResult
  nonisolated func resume(_ users: Set<String>? = nil, at now: MonotonicInstant) -> ContinuousClock.Instant {
    resume(users, at: now.instant)
  }
}

extension EncodedFrame {
  init(
    owner: ParticipantID, stream: Int = 1, codec: Codec, time: MediaTime, payload: ByteBuffer, isKeyframe: Bool,
    size: VideoSize? = nil, arrival: MonotonicInstant, gap: MediaGap? = nil
  ) {
    self.init(
      owner: owner, stream: stream, codec: codec, time: time, payload: payload, isKeyframe: isKeyframe, size: size,
      arrival: arrival.instant, gap: gap)
  }
}

extension ClockReport {
  init(
    owner: ParticipantID, stream: Int = 1, codec: Codec, time: MediaTime, ntp: UInt64, arrival: MonotonicInstant
  ) {
    self.init(owner: owner, stream: stream, codec: codec, time: time, ntp: ntp, arrival: arrival.instant)
  }
}

extension Duration {
  /// The duration in whole milliseconds, rounded to the nearest.
  var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }

  /// The duration in ticks of 48 kHz, rounded to the nearest.
  var opusTicks: Int64 { Int64((self / .nanoseconds(1) * 48e-6).rounded()) }

  /// Creates a duration from ticks of 48 kHz.
  init(opusTicks: Int64) {
    self = .nanoseconds(opusTicks * 62_500 / 3)
  }
}

// Tests of one stream need no share.

extension FramePipeline {
  convenience init(alignmentDelay: Duration, verification: VerificationPool?) {
    self.init(alignmentDelay: alignmentDelay, verifier: verification.map { FrameVerifier($0) })
  }
}

extension FrameVerifier {
  convenience init(_ pool: VerificationPool) { self.init(VerificationShare(pool)) }
}
