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

  /// What was done to datagrams of all kinds, by what it was; what was done to none is left out.
  private static func words(_ counts: Impairment.Counts) -> [String: UInt64] {
    let total = counts.total
    let all = [
      "datagrams": total.datagrams, "lost": total.lost, "dropped": total.droppedByQueue, "delayed": total.delayed,
      "queued": total.queued, "reordered": total.reordered,
    ]
    return all.filter { $0.value > 0 }
  }
}
