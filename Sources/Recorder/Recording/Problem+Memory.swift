import Media

/// What the user is told about the memory for queued frames.
extension RoomRecorder.Problem {
  /// The memory is full, and frames are dropped.
  ///
  /// - Parameters:
  ///   - cause: `diskStalled`, `overloaded` or `memoryFull`.
  ///   - limit: the bytes that may wait.
  static func memoryIsFull(_ cause: MediaGap.Reason, limit: Int, participant: ParticipantID) -> Self {
    let isFull = "the \(size(limit)) of memory for queued frames are full"
    let effect = "video, and then audio, is dropped until there is space again."
    let (kind, sentence): (Kind, String) =
      switch cause {
      case .diskStalled: (.lost, "The disk does not keep up, and \(isFull): \(effect)")
      case .memoryFull:
        (
          .memoryFull,
          "The disk and the processor keep up, but more arrives at once than fits: \(isFull), and \(effect) "
            + "A higher limit avoids this."
        )
      default: (.overloaded, "The processor does not keep up, and \(isFull): \(effect)")
      }
    return Self(kind: kind, participant: participant, sentence: sentence)
  }

  /// Nothing has been processed for a while, and frames wait.
  static func nothingIsProcessed(
    for time: Duration, isOfDisk: Bool, limit: Int, participant: ParticipantID
  ) -> Self {
    let seconds = time.milliseconds / 1_000
    return Self(
      kind: .stalled, participant: participant,
      sentence: (isOfDisk
        ? "The disk has not responded for \(seconds) s;" : "The processor has had no time to record for \(seconds) s;")
        + " received media waits in memory, up to \(size(limit)).")
  }

  /// Returns a size as text: whole MiB, or KiB if it is less than one.
  static func size(_ bytes: Int) -> String { bytes >= 1 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB" }
}
