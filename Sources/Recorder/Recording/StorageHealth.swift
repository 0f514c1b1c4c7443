import Media

/// Tells the user once that the disk does not take what is recorded, and once that it does again, however many files and
/// participants that concerns.
final class StorageHealth {
  /// How long after a failure the same thing is tried again.
  static let pause = Duration.seconds(1)

  private let folder: String
  private let memoryLimit: Int
  private let monitor: DiskMonitor
  private let report: (RoomRecorder.Problem) -> Void
  /// The files that could not be made or written at the last try.
  private var failing: Set<String> = []
  private var since: MonotonicInstant?

  init(
    folder: String, memoryLimit: Int, monitor: DiskMonitor, report: @escaping (RoomRecorder.Problem) -> Void
  ) {
    self.folder = folder
    self.memoryLimit = memoryLimit
    self.monitor = monitor
    self.report = report
  }

  /// A file could not be made or written, and will be tried again.
  func failed(_ file: String, of participant: ParticipantID, error: RoomRecorder.StorageError, now: MonotonicInstant) {
    failing.insert(file)
    monitor.setFailing(true)
    guard since == nil else { return }
    since = now
    let room = memoryLimit >> 20
    report(
      RoomRecorder.Problem(
        kind: .stalled, participant: participant,
        sentence: "\(error) It is tried again every second; what comes meanwhile waits in memory, up to \(room) MiB."))
  }

  /// A file is abandoned.
  func forget(_ file: String) {
    guard failing.remove(file) != nil, failing.isEmpty else { return }
    monitor.setFailing(false)
    since = nil
  }

  /// A file was written to the end of its line.
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

/// For how long the disk took nothing while a call continued: each moment counts once, whatever failed or hung in it, and no
/// moment after the call's end counts.
struct StallTime: Sendable {
  /// When the call ended; nil while it continues.
  var end: MonotonicInstant?
  private var sum = Duration.zero
  private var countedUntil: MonotonicInstant?

  /// The disk took nothing from one moment to another.
  mutating func add(from start: MonotonicInstant, until stop: MonotonicInstant) {
    let first = max(start, countedUntil ?? start)
    let last = min(stop, end ?? stop)
    if last <= first { return }
    sum += last - first
    countedUntil = last
  }

  /// - Parameter start: since when the disk has taken nothing; nil while it works.
  func total(since start: MonotonicInstant?, now: MonotonicInstant) -> Duration {
    guard let start else { return sum }
    var time = self
    time.add(from: start, until: now)
    return time.sum
  }
}
