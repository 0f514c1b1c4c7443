import BotPeer
import Call
import Console
import Media

/// Shows the state of each user's call once a second.
struct StatusTask {
  let call: RoomCall
  let console: Console
  let room: String

  /// The counters of a second ago, from which rates are computed.
  private struct Earlier {
    var frames: UInt64 = 0
    var bytesSent: UInt64 = 0
    var moment: ContinuousClock.Instant
    /// When the call was first seen connected.
    var connected: ContinuousClock.Instant?
  }

  /// How long the same users are shown, in seconds, if there is no room for all of them.
  private static let turn = 3

  func run() async {
    TerminalSize.onChange { [console] in console.redraw() }
    defer { console.clearStatus() }
    let begin = ContinuousClock.now
    var earlier: [ParticipantID: Earlier] = [:]
    var (first, seconds, shown) = (0, 0, 0)
    while call.endReason == nil {
      // The line disappears soon after the call has ended.
      for _ in 0..<10 where call.endReason == nil { try? await MediaThread.loop.sleep(for: .milliseconds(100)) }
      let now = ContinuousClock.now
      let all = await call.peer.statistics().sorted { $0.participant.text < $1.participant.text }
      var next: [ParticipantID: Earlier] = [:]
      let users = all.map { peer in
        let frames = peer.received[.video]?.frames ?? 0
        let before = earlier[peer.participant]
        let connected = peer.state == .connected ? before?.connected ?? now : nil
        next[peer.participant] = Earlier(
          frames: frames, bytesSent: peer.bytesSent, moment: now, connected: connected)
        return user(peer, since: before, connected: connected ?? now, now: now)
      }
      earlier = next
      let transfers = await call.transferProgress()
      let recording = call.recordingProgress().map {
        StatusLine.Recording(bytes: $0.bytes, freeBytes: $0.freeBytes, isStalled: $0.isStalled, isPaused: $0.isPaused)
      }
      var line = StatusLine(
        room: room, elapsed: now - begin, recording: recording, users: users, transfers: transfers)
      seconds += 1
      if shown >= users.count { first = 0 } else if seconds.isMultiple(of: Self.turn) { first += shown }
      first = users.isEmpty ? 0 : first % users.count
      line.first = first
      shown = console.show(line) { [call] in call.endReason == nil }
    }
  }

  private func user(
    _ peer: PeerStatistics, since earlier: Earlier?, connected: ContinuousClock.Instant, now: ContinuousClock.Instant
  ) -> StatusLine.User {
    let seconds = earlier.map { (now - $0.moment) / .seconds(1) } ?? 1
    func rate(_ count: UInt64, _ before: UInt64?) -> Double {
      seconds > 0 ? Double(count &- min(before ?? count, count)) / seconds : 0
    }
    let received = peer.received.values
    let packets = received.reduce(0) { $0 + Double($1.packetsReceived) }
    let lost = received.reduce(0) { $0 + Double($1.packetsLost) }
    let bitrate = received.reduce(0) { $0 + $1.bitrate }
    let state: StatusLine.State =
      switch peer.state {
      case .new, .connecting: .connecting
      case .connected:
        StatusLine.State(
          connectedFor: now - connected, flows: bitrate > 0 || rate(peer.bytesSent, earlier?.bytesSent) > 0,
          hasFlowed: packets > 0 || peer.bytesSent > 0)
      case .disconnected, .failed, .closed: .stalled
      }
    // Rates are not known before they are above 0.
    let incoming =
      packets == 0 || state == .connected
      ? nil
      : StatusLine.Flow(
        bitrate: bitrate,
        framesPerSecond: peer.received[.video].map { rate($0.frames, earlier?.frames) },
        loss: lost / max(1, packets + lost))
    let outgoing =
      peer.bytesSent == 0 || state == .connected
      ? nil
      : StatusLine.Flow(
        bitrate: rate(peer.bytesSent, earlier?.bytesSent) * 8, framesPerSecond: nil, loss: peer.fractionLost)
    return StatusLine.User(
      name: peer.participant.text, givenName: call.name(of: peer.participant), state: state, received: incoming,
      sent: outgoing,
      rejected: peer.rejectedSections.map(StatusLine.words(of:)))
  }
}
