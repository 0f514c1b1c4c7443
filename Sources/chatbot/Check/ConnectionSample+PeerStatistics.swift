import BotPeer
import CallCheck

extension ConnectionSample {
  init(_ statistics: PeerStatistics) {
    self.init()
    received = statistics.received
    packetsSent = statistics.packetsSent
    bytesSent = statistics.bytesSent
    framesSent = statistics.framesSent
    packetsLost = statistics.packetsLost
    keyframeRequests = statistics.keyframeRequests
    targetBitrate = statistics.targetBitrate
    roundTripTime = statistics.roundTripTime
    localAddress = statistics.localAddress
    remoteAddress = statistics.remoteAddress
    protectionProfile = statistics.protectionProfile
    if let counts = statistics.impairment {
      impairment = ConnectionReport.Impairment(
        send: Self.words(counts.sent), receive: Self.words(counts.received))
    }
  }

  /// What was done to datagrams of media and ICE, by what it was; what was done to none is skipped. Those of DTLS are, too: how
  /// many a handshake takes depends on how fast the machine is, and the same call is to give the same report.
  private static func words(_ counts: Impairment.Counts) -> [String: UInt64] {
    let total = counts.byKind.filter { $0.key != .dtls }.values.reduce(Impairment.Tally(), +)
    let all = [
      "datagrams": total.datagrams, "lost": total.lost, "dropped": total.droppedByQueue, "delayed": total.delayed,
      "queued": total.queued, "reordered": total.reordered,
    ]
    return all.filter { $0.value > 0 }
  }
}
