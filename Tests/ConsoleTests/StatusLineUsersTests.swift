import Console
import Media
import PeerEngine
import Testing

@Suite("the users of the status line")
struct StatusLineUsersTests {
  private let begin = ContinuousClock.now

  private func peer(
    _ id: String, _ state: ConnectionState = .connected, frames: UInt64? = nil, bitrate: Double = 0, sent: UInt64 = 0
  ) -> PeerStatistics {
    let participant = ParticipantID(id)
    var peer = PeerStatistics(participant: participant, state: state)
    peer.bytesSent = sent
    if let frames {
      var track = TrackStatistics()
      (track.frames, track.bitrate, track.packetsReceived, track.packetsLost) = (frames, bitrate, 90, 10)
      peer.received[TrackID(of: participant, kind: .video)] = track
    }
    return peer
  }

  @Test("rates are those since the line before, in the time that has passed")
  func rates() {
    var users = StatusLineUsers()
    func line(_ frames: UInt64, sent: UInt64, after seconds: Double) -> StatusLine.User? {
      users.next([peer("anna", frames: frames, bitrate: 1e6, sent: sent)], shown: 1, at: begin + .seconds(seconds)) {
        "\($0.text)'s name"
      }.first
    }
    let first = line(100, sent: 5_000, after: 0)
    #expect(first?.state == .live && first?.givenName == "anna's name")
    #expect(first?.received == StatusLine.Flow(bitrate: 1e6, framesPerSecond: 0, loss: 0.1))
    let second = line(160, sent: 25_000, after: 2)
    #expect(second?.received?.framesPerSecond == 30)
    #expect(second?.sent == StatusLine.Flow(bitrate: 80_000, framesPerSecond: nil, loss: 0))
    // The counters of a participant who has returned begin again.
    let returned = line(3, sent: 10, after: 3)
    #expect(returned?.received?.framesPerSecond == 0 && returned?.sent?.bitrate == 0)
  }

  @Test("a call stalls when media that flowed is missing for 2 s, or its connection is lost")
  func states() {
    var users = StatusLineUsers()
    func state(_ peer: PeerStatistics, after seconds: Double) -> StatusLine.State? {
      users.next([peer], shown: 1, at: begin + .seconds(seconds)) { _ in nil }.first?.state
    }
    #expect(state(peer("anna", .connecting), after: 0) == .connecting)
    #expect(state(peer("anna", frames: 1), after: 10) == .connected)
    #expect(state(peer("anna", frames: 1), after: 11.9) == .connected)
    #expect(state(peer("anna", frames: 1), after: 12) == .stalled)
    #expect(state(peer("anna", frames: 1, bitrate: 1), after: 13) == .live)
    #expect(state(peer("anna", .disconnected, frames: 1, bitrate: 1), after: 14) == .stalled)
    // Connected again, it has the same time as at first.
    #expect(state(peer("anna", frames: 1), after: 15) == .connected)
  }

  @Test("where there is no room for all, others are shown every third line, in the order of their ids")
  func turns() {
    var users = StatusLineUsers()
    let peers = ["d", "b", "e", "a", "c"].map { peer($0) }
    var shown = 0
    let firsts = (0..<9).map { line in
      let names = users.next(peers, shown: shown, at: begin + .seconds(line)) { _ in nil }.map(\.name)
      #expect(names == ["a", "b", "c", "d", "e"])
      shown = 2
      return users.first
    }
    #expect(firsts == [0, 0, 2, 2, 2, 4, 4, 4, 1])
    _ = users.next(peers, shown: 5, at: begin) { _ in nil }
    #expect(users.first == 0, "all are shown")
    _ = users.next([], shown: 0, at: begin) { _ in nil }
    #expect(users.first == 0)
  }
}
