import Media
import NIOCore
import Recorder

// Scripts count time as recorders do inside; what is public takes the time of `ContinuousClock`.

extension Recorder {
  nonisolated func begin(_ participant: ParticipantID, name: String? = nil, now: Moment, wallClock: Double) {
    begin(participant, name: name, now: now.instant, wallClock: wallClock)
  }

  nonisolated func receive(_ event: MediaEvent, of participant: ParticipantID, now: Moment) {
    receive(event, of: participant, now: now.instant)
  }

  nonisolated func end(_ participant: ParticipantID, reason: LeaveReason, now: Moment) {
    end(participant, reason: reason, now: now.instant)
  }

  @discardableResult
  nonisolated func finish(
    reason: LeaveReason = .stopped, now: Moment, within limit: Duration = .seconds(10)
  ) async -> [RecordingSummary] {
    await finish(reason: reason, now: now.instant, within: limit)
  }
}

extension EncodedFrame {
  init(
    owner: ParticipantID, codec: Codec, time: MediaTime, payload: ByteBuffer, isKeyframe: Bool,
    size: PictureSize? = nil, arrival: Moment, gap: MediaGap? = nil
  ) {
    self.init(
      owner: owner, codec: codec, time: time, payload: payload, isKeyframe: isKeyframe, size: size,
      arrival: arrival.instant, gap: gap)
  }
}

extension ClockReport {
  init(owner: ParticipantID, codec: Codec, time: MediaTime, ntp: UInt64, arrival: Moment) {
    self.init(owner: owner, codec: codec, time: time, ntp: ntp, arrival: arrival.instant)
  }
}
