package import Media
package import PeerEngine

/// The users of a status line, from the counters of their connections: their rates since the line before, and who is shown first where
/// there is no room for all.
package struct StatusLineUsers {
  /// A user's counters in the line before.
  private struct Counters {
    var frames: UInt64
    var bytesSent: UInt64
    var moment: ContinuousClock.Instant
    /// When the call was first seen connected; nil while it is not.
    var connected: ContinuousClock.Instant?
  }

  private var earlier: [ParticipantID: Counters] = [:]
  private var lines = 0
  /// The index of the user who is shown first.
  package private(set) var first = 0

  /// In how many lines the same users are shown, if there is no room for all of them.
  private static let turn = 3

  package init() {}

  /// Returns the users in the order of their ids.
  ///
  /// - Parameters:
  ///   - peers: The counters of each connection.
  ///   - shown: How many users the line before showed.
  ///   - name: The name that a user gave itself.
  package mutating func next(
    _ peers: [PeerStatistics], shown: Int, at now: ContinuousClock.Instant, name: (ParticipantID) -> String?
  ) -> [StatusLine.User] {
    var counters: [ParticipantID: Counters] = [:]
    let users = peers.sorted { $0.participant.text < $1.participant.text }.map { peer in
      let before = earlier[peer.participant]
      let connected = peer.state == .connected ? before?.connected ?? now : nil
      counters[peer.participant] = Counters(
        frames: peer.received[.video]?.frames ?? 0, bytesSent: peer.bytesSent, moment: now, connected: connected)
      return Self.user(peer, since: before, connectedFor: now - (connected ?? now), at: now, name(peer.participant))
    }
    earlier = counters
    lines += 1
    if shown >= users.count { first = 0 } else if lines.isMultiple(of: Self.turn) { first += shown }
    first = users.isEmpty ? 0 : first % users.count
    return users
  }

  private static func user(
    _ peer: PeerStatistics, since earlier: Counters?, connectedFor time: Duration, at now: ContinuousClock.Instant,
    _ name: String?
  ) -> StatusLine.User {
    let seconds = earlier.map { (now - $0.moment) / .seconds(1) } ?? 1
    func rate(_ count: UInt64, _ before: UInt64?) -> Double {
      seconds > 0 ? Double(count &- min(before ?? count, count)) / seconds : 0
    }
    let received = peer.received.values
    let packets = received.reduce(0) { $0 + Double($1.packetsReceived) }
    let lost = received.reduce(0) { $0 + Double($1.packetsLost) }
    let bitrate = received.reduce(0) { $0 + $1.bitrate }
    let sent = rate(peer.bytesSent, earlier?.bytesSent)
    let state: StatusLine.State =
      switch peer.state {
      case .new, .connecting: .connecting
      case .connected:
        StatusLine.State(
          connectedFor: time, flows: bitrate > 0 || sent > 0, hasFlowed: packets > 0 || peer.bytesSent > 0)
      case .disconnected, .failed, .closed: .stalled
      }
    // Rates are not known before they are above 0.
    let incoming =
      packets == 0 || state == .connected
      ? nil
      : StatusLine.Flow(
        bitrate: bitrate, framesPerSecond: peer.received[.video].map { rate($0.frames, earlier?.frames) },
        loss: lost / max(1, packets + lost))
    let outgoing =
      peer.bytesSent == 0 || state == .connected
      ? nil : StatusLine.Flow(bitrate: sent * 8, framesPerSecond: nil, loss: peer.fractionLost)
    return StatusLine.User(
      name: peer.participant.text, givenName: name, state: state, received: incoming, sent: outgoing,
      rejected: peer.rejectedSections.map(StatusLine.words(of:)))
  }
}
