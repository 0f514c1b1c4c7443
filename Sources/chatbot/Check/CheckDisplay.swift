import CallCheck
import Console
import Inspection
import Synchronization

/// Shows the progress of a check: on a terminal as a few text lines that are overwritten, otherwise as a new text line
/// for each relevant change.
final class CheckDisplay: Sendable {
  private let console: Console
  private let room: String
  private let span: Duration
  private let reported = Mutex("")

  init(console: Console, room: String, span: Duration) {
    self.console = console
    self.room = room
    self.span = span
  }

  func show(_ status: CheckStatus) {
    if console.isTerminal { return console.show(lines: lines(status)) }
    let state = state(status)
    let isNew = reported.withLock { reported in
      defer { reported = state }
      return reported != state
    }
    if isNew { console.say(state) }
  }

  func clear() { console.clearStatus() }

  /// What the check waits for, or that it is judging; without numbers, so that it rarely changes.
  private func state(_ status: CheckStatus) -> String {
    if status.mediaElapsed != nil {
      return "check: media flows, judging for \(Self.seconds(span / .seconds(1)))"
    }
    return "check: waiting for \(RecordedName.shown(status.pending.joined(separator: ", ")))"
  }

  private func lines(_ status: CheckStatus) -> [String] {
    var heading = "check of room \(RecordedName.shown(room)), \(Self.seconds(status.elapsed))"
    if let media = status.mediaElapsed {
      heading += ": judging, \(Self.seconds(min(media, span / .seconds(1)))) of \(Self.seconds(span / .seconds(1)))"
    } else {
      heading += ": waiting for \(RecordedName.shown(status.pending.joined(separator: ", ")))"
    }
    return [heading]
      + status.peers.prefix(8).map { peer in
        let flow = "\(Int(peer.fps.rounded())) fps, \(Int((peer.bitrate / 1000).rounded())) kb/s"
        let level = peer.level.map { ", \(Int($0.rounded())) dB" } ?? ""
        let name = RecordedName.shown(String(peer.id.prefix(8)))
        return peer.isGone
          ? "  \(name)  left" : peer.reached == .media ? "  \(name)  \(flow)\(level)" : "  \(name)  \(peer.progress)"
      }
  }

  private static func seconds(_ value: Double) -> String { "\(Int(value.rounded())) s" }
}
