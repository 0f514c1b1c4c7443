package import BotPeer
package import JobProtocol
internal import Media
package import Recorder

/// Sums of what all users of a job have sent, also of those who have left. Pure.
package struct ReceivedCounts: Sendable {
  /// What users sent whose connections are over.
  private var departed = MediaCounts()
  /// The last counts of each connection.
  private var last: [ParticipantID: MediaCounts] = [:]
  /// Decode errors and unverified frames of recordings that have ended.
  private var verified = MediaCounts()

  package init() {}

  /// Takes the statistics of all connections.
  package mutating func update(_ peers: [PeerStatistics]) {
    var next: [ParticipantID: MediaCounts] = [:]
    for peer in peers { next[peer.participant] = MediaCounts(peer) }
    for (user, before) in last {
      // A connection that begins again counts from zero.
      guard let now = next[user], now.packets >= before.packets else {
        departed += before
        continue
      }
    }
    last = next
  }

  /// Takes the result of a finished recording.
  package mutating func update(_ recording: RecordingSummary) {
    for track in recording.manifest.tracks {
      verified.decodeErrors &+= track.decodeErrors ?? 0
      verified.unverified &+= track.unverified ?? 0
    }
  }

  /// The sums, with the recordings that grow.
  package func total(_ recordings: [RecordingStatus]) -> MediaCounts {
    var total = last.values.reduce(departed, +)
    total.decodeErrors = recordings.reduce(verified.decodeErrors) { $0 &+ ($1.decodeErrors ?? 0) }
    total.unverified = recordings.reduce(verified.unverified) { $0 &+ ($1.unverified ?? 0) }
    return total
  }
}

extension MediaCounts {
  /// The counts of a connection, without those of its recordings.
  package init(_ peer: PeerStatistics) {
    self.init()
    for track in peer.received.values {
      packets &+= track.packetsReceived
      lost &+= track.packetsLost
      recovered &+= track.packetsRecovered &+ track.repairedByRedundancy
      frames &+= track.frames
    }
  }

  static func + (one: MediaCounts, other: MediaCounts) -> MediaCounts {
    var sum = one
    sum += other
    return sum
  }

  static func += (sum: inout MediaCounts, other: MediaCounts) {
    sum.packets &+= other.packets
    sum.lost &+= other.lost
    sum.recovered &+= other.recovered
    sum.frames &+= other.frames
    sum.decodeErrors &+= other.decodeErrors
    sum.unverified &+= other.unverified
  }
}
