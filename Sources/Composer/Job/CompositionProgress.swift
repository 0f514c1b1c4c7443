internal import FileSource

/// How far a composition is.
package struct CompositionProgress: Sendable, Hashable {
  package enum Stage: Sendable, Hashable {
    /// The sound is decoded, to find who speaks.
    case scanning
    /// The picture is made.
    case rendering
    /// The sound is encoded, and the file is written.
    case finishing
    /// The disk is full: writing is tried again each second.
    case diskFull
  }

  package var stage: Stage
  /// What is done of the stage, in units of `MediaTimebase.rate`.
  package var done: Int64
  package var duration: Int64
  /// What a run before this one had done already, in the same units. It does not count for the speed.
  package var kept: Int64

  package init(done: Int64, duration: Int64, stage: Stage, kept: Int64 = 0) {
    self.stage = stage
    self.duration = max(1, duration)
    self.done = min(max(0, done), self.duration)
    self.kept = min(max(0, kept), self.done)
  }

  /// What is done, from 0 to 100, rounded down.
  package var percent: Int { Int((Double(done) / Double(duration) * 100).rounded(.down)) }

  /// The line of a terminal, for example `compose: 41 %, 0:25 of 1:01, 2.6x as fast as the call, 0:14 left`.
  ///
  /// - Parameter elapsed: since the stage began.
  package func line(elapsed: Duration) -> String {
    let rate = Double(MediaTimebase.rate)
    let head = "\(percent) %, \(Self.clock(Double(done) / rate)) of \(Self.clock(Double(duration) / rate))"
    switch stage {
    case .scanning: return "compose: listening, \(head)"
    case .finishing: return "compose: writing, \(head)"
    case .diskFull: return "compose: the disk is full, waiting for space; \(head)"
    case .rendering: break
    }
    let seconds = elapsed / .seconds(1)
    let composed = Double(done - kept) / rate
    guard seconds >= 1, composed > 0 else { return "compose: \(head)" }
    let speed = composed / seconds
    let tenths = Int(min(speed * 10, 1e6).rounded())
    let left = Self.clock(Double(duration - done) / rate / speed)
    return "compose: \(head), \(tenths / 10).\(tenths % 10)x as fast as the call, \(left) left"
  }

  /// Minutes and seconds, and hours if there are any.
  private static func clock(_ time: Double) -> String {
    let seconds = Int(min(max(0, time), 1e9))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = seconds / 60
    let rest = two(seconds % 60)
    return minutes >= 60 ? "\(minutes / 60):\(two(minutes % 60)):\(rest)" : "\(minutes):\(rest)"
  }
}
