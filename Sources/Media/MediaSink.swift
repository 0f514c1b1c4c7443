/// Takes what participants' media brings, as it comes: a recorder, for example, or a mirror.
///
/// It is called on the thread that receives for all participants, in the order in which things are to be handled. So it returns at
/// once: it never waits for a disk, for another thread or for a decoder.
public protocol MediaSink: Sendable {
  /// Takes a frame, a sender's clock or counts.
  ///
  /// - Parameter now: when it was handed out; a frame came at its `arrival`.
  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant)
}
