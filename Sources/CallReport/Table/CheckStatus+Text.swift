package import CallCheck

/// The state of a running check as text.
extension CheckStatus {
  /// The number of peers that are shown.
  private static let maximumLines = 8

  /// What the check waits for, or that it is judging; without numbers that change, so that it rarely changes.
  ///
  /// - Parameter span: How long it judges.
  package func sentence(of span: Duration) -> String {
    if mediaElapsed != nil { return "check: media flows, judging for \(Self.seconds(span / .seconds(1)))" }
    return "check: waiting for \(waited)"
  }

  /// A heading, and a line for each of the first peers.
  ///
  /// - Parameters:
  ///   - room: The name of the room.
  ///   - span: How long the check judges.
  package func lines(of room: String, judgingFor span: Duration) -> [String] {
    let total = span / .seconds(1)
    var heading = "check of room \(ReportText.line(room, limit: 300)), \(Self.seconds(elapsed))"
    if let mediaElapsed {
      heading += ": judging, \(Self.seconds(min(mediaElapsed, total))) of \(Self.seconds(total))"
    } else {
      heading += ": waiting for \(waited)"
    }
    return [heading] + peers.prefix(Self.maximumLines).map(Self.line)
  }

  private var waited: String { ReportText.line(pending.joined(separator: ", "), limit: 300) }

  private static func line(_ peer: Peer) -> String {
    let name = ReportText.line(String(peer.id.prefix(8)), limit: 8)
    if peer.isGone { return "  \(name)  left" }
    guard peer.reached == .media else { return "  \(name)  \(peer.progress)" }
    let level = peer.level.map { ", \(Int($0.rounded())) dB" } ?? ""
    return "  \(name)  \(Int(peer.fps.rounded())) fps, \(Int((peer.bitrate / 1000).rounded())) kb/s\(level)"
  }

  private static func seconds(_ value: Double) -> String { "\(Int(value.rounded())) s" }
}
