internal import Composition
internal import Media
internal import MediaWorker

/// The sound of one stream of a user, through all its recordings. Each is open only while it is heard.
final class SoundSource {
  let user: Int
  private let recordings: [PlannedRecording]
  private let worker: () -> MediaWorker
  private var nextRecording = 0
  private var reader: SoundReader?
  /// What was decoded and has not been used up.
  private var run: SoundRun?

  /// Of the recordings that were closed.
  private var closed: (undecodedPackets: Int, problems: [String]) = (0, [])

  init(_ sound: PlannedSound, worker: @escaping () -> MediaWorker) {
    user = sound.user
    // Their ranges do not overlap.
    recordings = sound.recordings.sorted { $0.range.lowerBound < $1.range.lowerBound }
    self.worker = worker
  }

  var undecodedPackets: Int { closed.undecodedPackets + (reader?.undecodedPackets ?? 0) }
  /// Why nothing can be decoded; nil if that is not so.
  private(set) var failure: ComposerFailure?
  var problems: [String] { closed.problems + (reader?.problems ?? []) }

  /// Calls `use` with each piece of sound that overlaps a range, in order. The ranges of the calls ascend.
  func read(_ range: Range<Int64>, _ use: (SoundRun) -> Void) {
    while let run = current(before: range.upperBound) {
      if let part = run.clamped(to: range) { use(part) }
      if run.end > range.upperBound { return }
      self.run = nil
    }
  }

  /// Returns the present run, or the next one, if it begins before a sample.
  private func current(before end: Int64) -> SoundRun? {
    while true {
      if let run { return run.start < end ? run : nil }
      if let reader {
        run = reader.next()
        failure = failure ?? reader.failure
        if run == nil { close(reader) }
      } else {
        guard nextRecording < recordings.count,
          SoundClock.sample(at: recordings[nextRecording].range.lowerBound) < end
        else { return nil }
        reader = SoundReader(recordings[nextRecording], worker: worker)
        nextRecording += 1
      }
    }
  }

  private func close(_ reader: SoundReader) {
    closed.undecodedPackets += reader.undecodedPackets
    closed.problems += reader.problems
    self.reader = nil
  }
}
