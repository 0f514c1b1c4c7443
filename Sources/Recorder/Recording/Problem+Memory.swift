import Media
import MediaWorker

/// The messages to the user about the memory for queued frames and other limits.
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

  /// A recording could not be finished in time.
  ///
  /// - Parameter missing: a sentence about what is not written, with a blank before it; empty if nothing is missing.
  static func notFinished(
    _ status: RecordingStatus, within limit: Duration, isOfDisk: Bool, missing: String
  ) -> Self {
    Self(
      kind: isOfDisk ? .lost : .overloaded, participant: status.participant, stream: status.stream,
      sentence: "The recording of \(subject(status.participant, stream: status.stream)) could not be finished within "
        + "\(limit): " + (isOfDisk ? "the disk does not respond." : "the processor had no time.")
        + "\(missing) Its files can be read as far as they go; a repair completes them.")
  }

  /// A participant has more streams than are recorded.
  static func tooManyStreams(_ participant: ParticipantID) -> Self {
    Self(
      kind: .notRecorded, participant: participant,
      sentence: "“\(participant)” sends more than \(ParticipantRecordings.maximum) streams; the further ones are not "
        + "recorded.")
  }

  /// Nobody has taken the finished files from ``RoomRecorder/segments``, and the oldest ones are left out from now on.
  ///
  /// - Parameter limit: how many are buffered.
  static func segmentsLeftOut(_ oldest: RecordedSegment, limit: Int) -> Self {
    Self(
      kind: .segmentsLeftOut, participant: oldest.participant, stream: oldest.stream,
      sentence: "More than \(limit) finished files wait to be processed; \(oldest.file.name.printable(utf8Bytes: 200)) "
        + "and perhaps more of the oldest ones are recorded, but left out of further processing.")
  }

  /// Media of a participant is recorded without being decoded, or is decoded in this process.
  static func verification(_ notice: WorkerNotice, of participant: ParticipantID) -> Self {
    let kind: Kind =
      switch notice {
      case .notVerified: .notVerified
      case .replaced: .verifiedInProcess
      }
    return Self(kind: kind, participant: participant, sentence: notice.sentence)
  }

  /// How sentences name a stream: by its participant, and by its number if it is not the first.
  static func subject(_ participant: ParticipantID, stream: Int) -> String {
    stream == 1 ? "“\(participant)”" : "stream \(stream) of “\(participant)”"
  }

  /// Returns a size as text: whole MiB, or KiB if it is less than one.
  static func size(_ bytes: Int) -> String { bytes >= 1 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB" }
}
