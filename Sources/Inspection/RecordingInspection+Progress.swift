extension RecordingInspection.Progress {
  /// The line of a terminal, for example `inspect: 2 recordings, 41 %, 0:25 of 1:01, 18x as fast as it was made`.
  ///
  /// - Parameters:
  ///   - recordings: The number of recordings that are judged.
  ///   - elapsed: The time since judging began.
  package func line(of recordings: Int, elapsed: Duration) -> String {
    switch self {
    case .opening(let number, let count): return "inspect: opening recording \(number) of \(count)"
    case .judging(let time, let end):
      let what = recordings == 1 ? "1 recording" : "\(recordings) recordings"
      let end = max(.microseconds(1), end)
      let done = min(max(.zero, time), end)
      let percent = Int((done / end * 100).rounded(.down))
      let seconds = elapsed / .seconds(1)
      let speed = seconds >= 1 ? ", \(Int((done / .seconds(1) / seconds).rounded()))x as fast as it was made" : ""
      return "inspect: \(what), \(percent) %, \(Self.clock(done)) of \(Self.clock(end))\(speed)"
    }
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
