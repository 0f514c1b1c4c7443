package import Media

/// Notifies the user once when the disk stops accepting the recordings, and once when it works again, independent of
/// the number of files and participants affected.
final class StorageHealth {
  /// The time between a failure and the next attempt.
  static let pause = Duration.seconds(1)

  private let folder: String
  private let memoryLimit: () -> Int
  private let monitor: DiskMonitor
  private let report: (RoomRecorder.Problem) -> Void
  /// The files that could not be created or written at the last attempt.
  private var failing: Set<String> = []
  private var since: MonotonicInstant?

  /// - Parameter memoryLimit: returns the bytes of frames that may wait.
  init(
    folder: String, memoryLimit: @escaping () -> Int, monitor: DiskMonitor,
    report: @escaping (RoomRecorder.Problem) -> Void
  ) {
    self.folder = folder
    self.memoryLimit = memoryLimit
    self.monitor = monitor
    self.report = report
  }

  /// Records that a file could not be created or written, and will be retried.
  func failed(_ file: String, of participant: ParticipantID, error: RoomRecorder.StorageError, now: MonotonicInstant) {
    failing.insert(file)
    monitor.setFailing(true)
    guard since == nil else { return }
    since = now
    let memory = RoomRecorder.Problem.size(memoryLimit())
    report(
      RoomRecorder.Problem(
        kind: .stalled, participant: participant,
        sentence: "\(error) The recorder retries every second; received media waits in memory, up to \(memory)."))
  }

  /// Removes a file that will not be retried.
  func forget(_ file: String) {
    guard failing.remove(file) != nil, failing.isEmpty else { return }
    monitor.setFailing(false)
    since = nil
  }

  /// Records that all queued writes of a file were carried out.
  func settled(_ file: String, of participant: ParticipantID, now: MonotonicInstant) {
    if failing.isEmpty { return }
    guard failing.remove(file) != nil, failing.isEmpty, let since else { return }
    monitor.setFailing(false)
    self.since = nil
    let seconds = max(1, (now - since).milliseconds / 1_000)
    report(
      RoomRecorder.Problem(
        kind: .resumed, participant: participant,
        sentence: "Recording into “\(folder)” continues after \(seconds) s without a working disk."))
  }
}

/// How long the disk accepted nothing while a call continued: each moment counts once, however many failures it
/// contains, and no moment after the call's end counts.
package struct StallTime: Sendable {
  /// When the call ended; nil while it continues.
  package var end: MonotonicInstant?
  private var sum = Duration.zero
  private var countedUntil: MonotonicInstant?

  package init() {}

  /// Adds an interval in which the disk accepted nothing.
  package mutating func add(from start: MonotonicInstant, until stop: MonotonicInstant) {
    let first = max(start, countedUntil ?? start)
    let last = min(stop, end ?? stop)
    if last <= first { return }
    sum += last - first
    countedUntil = last
  }

  /// Returns the total, including the current stall.
  ///
  /// - Parameter start: when the disk stopped accepting writes; nil while it works.
  package func total(since start: MonotonicInstant?, now: MonotonicInstant) -> Duration {
    guard let start else { return sum }
    var time = self
    time.add(from: start, until: now)
    return time.sum
  }
}
