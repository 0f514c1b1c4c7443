/// Marks the peers that joined too late to be judged. Expected peers are always judged: only a peer that the check no
/// longer waits for can be too late.
struct LateJoiners {
  let expected: CheckExpectation
  /// When judging began; nil if it never did.
  let mediaFrom: Double?

  /// A peer that joins less than this before the end, in seconds, is not judged: there is not enough to measure.
  static let tooShort = 2.0
  /// A peer that joins less than this before the end, in seconds, and does not send everything yet is not judged:
  /// connecting may take this long.
  static let settling = 5.0

  /// Marks late joiners, in the order in which all peers joined.
  func mark(in reports: inout [PeerReport], end: Double) {
    let peers = reports.indices.filter { !expected.leavesOut(reports[$0]) }
    let late = peers.filter { isLate(reports[$0], end: end) }
    let missing = max(0, expected.peers - (peers.count - late.count))
    for index in late.dropFirst(missing) {
      reports[index].timeLeftAfterLateJoin = roundedForReport(max(0, end - joinTime(of: reports[index])))
    }
  }

  private func isLate(_ peer: PeerReport, end: Double) -> Bool {
    guard let mediaFrom, joinTime(of: peer) > mediaFrom else { return false }
    let left = end - joinTime(of: peer)
    let hasAll =
      (peer.steps.firstFrame != nil || !expected.video) && (peer.steps.firstSound != nil || !expected.audio)
    // A peer that has left is no longer connecting.
    return left < Self.tooShort || (left < Self.settling && !hasAll && peer.departure == nil)
  }

  private func joinTime(of peer: PeerReport) -> Double { peer.steps.seen ?? peer.steps.firstPacket ?? 0 }
}
