/// Tells peers that came too late to be judged from those that are. Who is expected is always judged: only those are too late whom
/// nobody waits for any more.
struct LateJoiners {
  let expected: CheckExpectation
  /// When judging began; nil when it never did.
  let mediaFrom: Double?

  /// Anyone who comes so shortly before the end is not judged: there is nothing yet to measure.
  static let tooShort = 2.0
  /// Nor is who comes so shortly before it and does not send everything yet: so long connecting may take.
  static let settling = 5.0

  /// Marks them, in the order in which all came.
  func mark(in reports: inout [PeerReport], end: Double) {
    let late = reports.indices.filter { isLate(reports[$0], end: end) }
    let missing = max(0, expected.peers - (reports.count - late.count))
    for index in late.dropFirst(missing) {
      reports[index].cameLate = roundedForReport(max(0, end - came(reports[index])))
    }
  }

  private func isLate(_ peer: PeerReport, end: Double) -> Bool {
    guard let mediaFrom, came(peer) > mediaFrom else { return false }
    let left = end - came(peer)
    let hasAll =
      (peer.steps.firstFrame != nil || !expected.video) && (peer.steps.firstSound != nil || !expected.audio)
    // Who has gone again does not connect any more.
    return left < Self.tooShort || (left < Self.settling && !hasAll && peer.departure == nil)
  }

  private func came(_ peer: PeerReport) -> Double { peer.steps.seen ?? peer.steps.firstPacket ?? 0 }
}
