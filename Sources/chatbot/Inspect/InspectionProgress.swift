import FileSource

/// Shows the progress of an inspection on a terminal.
struct InspectionProgress {
  private let recordings: Int
  private let end: Int64
  private let console: Console
  private var next = ContinuousClock.now
  private var begin = ContinuousClock.now

  /// The interval of updates.
  private static let interval = Duration.milliseconds(200)

  /// - Parameters:
  ///   - recordings: The number of recordings.
  ///   - end: The end of the longest recording, in units of `MediaTimebase.rate`.
  init(recordings: Int, end: Int64, console: Console) {
    self.recordings = recordings
    self.end = max(1, end)
    self.console = console
  }

  mutating func show(_ time: Int64) {
    guard console.isTerminal else { return }
    let now = ContinuousClock.now
    if now < next { return }
    next = now + Self.interval
    console.show(lines: [line(time, elapsed: now - begin)])
  }

  func clear() { console.clearStatus() }

  /// The progress line, for example `inspect: 2 recordings, 41 %, 0:25 of 1:01, 18x as fast as it was made`.
  func line(_ time: Int64, elapsed: Duration) -> String {
    let what = recordings == 1 ? "1 recording" : "\(recordings) recordings"
    let done = min(max(0, time), end)
    let percent = Int((Double(done) / Double(end) * 100).rounded(.down))
    let seconds = elapsed / .seconds(1)
    let speed = seconds >= 1 ? ", \(Int((RecordedTime.seconds(done) / seconds).rounded()))x as fast as it was made" : ""
    return "inspect: \(what), \(percent) %, \(Self.clock(done)) of \(Self.clock(end))\(speed)"
  }

  /// Formats minutes and seconds, and hours if there are any.
  private static func clock(_ units: Int64) -> String {
    let seconds = Int(units / Int64(MediaTimebase.rate))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = seconds / 60
    let rest = two(seconds % 60)
    return minutes >= 60 ? "\(minutes / 60):\(two(minutes % 60)):\(rest)" : "\(minutes):\(rest)"
  }
}
