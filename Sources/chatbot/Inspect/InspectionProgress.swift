import Console

/// Shows the progress of an inspection on a terminal.
struct InspectionProgress {
  private let recordings: Int
  private let console: Console
  private var next = ContinuousClock.now
  private var begin = ContinuousClock.now

  /// The interval of updates.
  private static let interval = Duration.milliseconds(200)

  /// - Parameter recordings: The number of recordings.
  init(recordings: Int, console: Console) {
    self.recordings = recordings
    self.console = console
  }

  /// Shows that frames up to a time have been judged.
  ///
  /// - Parameter end: The end of the longest recording.
  mutating func show(_ time: Duration, end: Duration) {
    guard console.isTerminal else { return }
    let now = ContinuousClock.now
    if now < next { return }
    next = now + Self.interval
    console.show(lines: [line(time, end: end, elapsed: now - begin)])
  }

  func clear() { console.clearStatus() }

  /// The progress line, for example `inspect: 2 recordings, 41 %, 0:25 of 1:01, 18x as fast as it was made`.
  func line(_ time: Duration, end: Duration, elapsed: Duration) -> String {
    let what = recordings == 1 ? "1 recording" : "\(recordings) recordings"
    let end = max(.microseconds(1), end)
    let done = min(max(.zero, time), end)
    let percent = Int((done / end * 100).rounded(.down))
    let seconds = elapsed / .seconds(1)
    let speed = seconds >= 1 ? ", \(Int((done / .seconds(1) / seconds).rounded()))x as fast as it was made" : ""
    return "inspect: \(what), \(percent) %, \(Self.clock(done)) of \(Self.clock(end))\(speed)"
  }

  /// Formats minutes and seconds, and hours if there are any.
  private static func clock(_ time: Duration) -> String {
    let seconds = Int(time.components.seconds)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = seconds / 60
    let rest = two(seconds % 60)
    return minutes >= 60 ? "\(minutes / 60):\(two(minutes % 60)):\(rest)" : "\(minutes):\(rest)"
  }
}
