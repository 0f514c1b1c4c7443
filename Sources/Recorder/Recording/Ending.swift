/// The end of all recordings: why, until when, and who waits for it.
struct Ending: Sendable {
  let reason: LeaveReason
  /// When what the disk has not taken by then is left as it is.
  let deadline: ContinuousClock.Instant
  let result: AsyncStream<[RecordingSummary]>.Continuation
}
