import BotPeer
import Media
import Room
import Signalling
import Testing

@Suite("The state of a room")
struct RoomStateTests {
  private let start = MonotonicInstant(sinceOrigin: .zero)
  private let anna = ParticipantID("anna")

  private func room(_ change: (inout SignallingCapabilities) -> Void = { _ in }) -> RoomState {
    var capabilities = SignallingCapabilities()
    capabilities.announcesLostParticipants = true
    change(&capabilities)
    return RoomState(capabilities)
  }

  private func others(_ count: Int, offerer: SignalledParticipant.Offerer = .local) -> [SignalledParticipant] {
    (0..<count).map { SignalledParticipant(ParticipantID("user-\($0)"), offerer: offerer) }
  }

  private func joined(_ id: String, _ others: [SignalledParticipant]) -> SignallingEvent {
    .joined(id: ParticipantID(id), others: others)
  }

  @Test("a newcomer offers to ten others in 50 ms, and waits for those who offer")
  func pace() {
    var room = room()
    let all = others(23)
    let first = room.received(joined("me", all), now: start)
    #expect(first == [.identify(ParticipantID("me"))] + all[..<10].map { .call($0) })
    #expect(room.deadline == start + .milliseconds(50))
    // Who leaves meanwhile, or offers first, is not offered to.
    let left = room.received(.participantLeft(all[10].id, isRejoinVerified: true), now: start)
    #expect(left == [.participantLeft(all[10].id, isRejoinVerified: true)])
    let offer = room.received(.message(.offer("v=0"), from: all[11].id), now: start)
    var known = all[11]
    known.offerer = .remote
    #expect(offer == [.call(known), .receive(.offer("v=0"), from: all[11].id)])
    let early = room.timeReached(now: start + .milliseconds(49))
    let second = room.timeReached(now: start + .milliseconds(50))
    let third = room.timeReached(now: start + .milliseconds(100))
    #expect(early == [] && second == all[12..<22].map { .call($0) } && third == [.call(all[22])])
    #expect(room.deadline == nil)
    let waiting = room.received(.participantJoined(others(1, offerer: .remote)[0]), now: start)
    #expect(waiting == [.call(others(1, offerer: .remote)[0])])
  }

  @Test("after the connection to the server was lost, an unanswered offer is repeated, and calls continue")
  func rejoin() {
    var room = room()
    let all = others(2)
    _ = room.received(joined("me", all), now: start)
    _ = room.received(.stateChanged(.connected), of: all[0].id, now: start)
    let lost = room.received(.connectionLost(reason: "gone", retryAfter: .seconds(1)), now: start)
    let again = room.received(joined("me", all), now: start + .seconds(3))
    #expect(lost == [])
    #expect(again == [.identify(ParticipantID("me")), .repeatOffer(all[0].id), .repeatOffer(all[1].id)])
  }

  @Test("under a new id, everyone is called again when the call under the former id ends")
  func newID() {
    var room = room()
    let all = others(1)
    _ = room.received(joined("me", all), now: start)
    _ = room.received(.stateChanged(.connected), of: all[0].id, now: start)
    let again = room.received(joined("me-2", all), now: start)
    #expect(
      again == [.identify(ParticipantID("me-2")), .participantLeft(all[0].id, isRejoinVerified: true)])
    let replaced = room.received(.ended(CloseReason(.connectionLost, "")), of: all[0].id, now: start + .seconds(1))
    #expect(replaced == [.hangUp(all[0].id), .call(all[0])])
  }

  @Test("an answer that may be lost with the connection to the server leads to a new call")
  func lostAnswer() {
    var room = room()
    let all = others(1)
    _ = room.received(joined("me", []), now: start)
    _ = room.received(.stateChanged(.connecting), of: all[0].id, now: start)
    let answer = room.received(.signal(.answer("v=0")), of: all[0].id, now: start)
    let again = room.received(joined("me", all), now: start)
    let next = room.received(.ended(CloseReason(.connectionLost, "")), of: all[0].id, now: start)
    #expect(answer == [.send(.answer("v=0"), to: all[0].id)])
    #expect(again == [.identify(ParticipantID("me")), .participantLeft(all[0].id, isRejoinVerified: true)])
    #expect(next == [.hangUp(all[0].id), .call(all[0])])
  }

  @Test("where nobody is told that we lost the server, calls that are being established go on")
  func unannounced() {
    var room = room { $0.announcesLostParticipants = false }
    let all = others(2)
    _ = room.received(joined("me", all), now: start)
    _ = room.received(.message(.answer("v=0"), from: all[0].id), now: start)
    _ = room.received(.signal(.answer("v=0")), of: all[1].id, now: start)
    let again = room.received(joined("me", all), now: start)
    let empty = room.received(joined("me", []), now: start)
    #expect(again == [.identify(ParticipantID("me")), .repeatOffer(all[0].id), .repeatOffer(all[1].id)])
    #expect(empty == [.identify(ParticipantID("me"))])
    let failed = room.received(.ended(CloseReason(.failed, "")), of: all[1].id, now: start)
    #expect(failed == [.hangUp(all[1].id)] && room.deadline == nil)
  }

  @Test("a stay need not end because the server was lost before the first join")
  func admission() {
    var room = RoomState(SignallingCapabilities(), endsIfNotAdmitted: false)
    let lost = room.received(.connectionLost(reason: "Full.", retryAfter: .seconds(1)), now: start)
    let joined = room.received(joined("me", []), now: start)
    #expect(lost == [] && joined == [.identify(ParticipantID("me"))])
  }

  @Test("somebody whom we are to offer to, and whose offer we answered in vain, is offered to")
  func answerInVain() {
    var room = room()
    let all = others(1)
    _ = room.received(joined("me", all), now: start)
    _ = room.received(.signal(.answer("v=0")), of: all[0].id, now: start)
    let failed = room.received(.ended(CloseReason(.failed, "")), of: all[0].id, now: start + .seconds(30))
    let due = room.timeReached(now: start + .seconds(31))
    #expect(failed == [.hangUp(all[0].id)] && due == [.offer(all[0].id)])
    // A connection that was established does not begin again: they have ended it.
    _ = room.received(.signal(.answer("v=0")), of: all[0].id, now: start + .seconds(32))
    _ = room.received(.stateChanged(.connected), of: all[0].id, now: start + .seconds(32))
    _ = room.received(.ended(CloseReason(.connectionLost, "")), of: all[0].id, now: start + .seconds(90))
    #expect(room.deadline == nil)
  }

  @Test("a media server whose connection was lost is offered to after a second, while the signalling has it")
  func mediaServer() {
    var room = room()
    let server = SignalledParticipant(anna, offerer: .local, direction: .sendOnly)
    let first = room.received(joined("me", [server]), now: start)
    let ended = room.received(.ended(CloseReason(.connectionLost, "")), of: anna, now: start + .seconds(9))
    #expect(first.last == .call(server) && ended == [.hangUp(anna)])
    #expect(room.deadline == start + .seconds(10))
    let early = room.timeReached(now: start + .seconds(9.9))
    let due = room.timeReached(now: start + .seconds(10))
    #expect(early == [] && due == [.offer(anna)])
    // It has left, so nothing is tried.
    _ = room.received(.ended(CloseReason(.failed, "")), of: anna, now: start + .seconds(11))
    _ = room.received(.participantLeft(anna, isRejoinVerified: true), now: start + .seconds(11))
    #expect(room.deadline == nil)
    // Users are not offered to again.
    let users = others(1)
    _ = room.received(joined("me", users), now: start + .seconds(20))
    _ = room.received(.ended(CloseReason(.failed, "")), of: users[0].id, now: start + .seconds(21))
    #expect(room.deadline == nil)
  }

  @Test("a media server that is silent for 4 s is given up, unless the system says so itself")
  func silence() {
    let server = SignalledParticipant(anna, offerer: .local, direction: .receiveOnly)
    for reports in [false, true] {
      var room = room { $0.reportsEndedConnections = reports }
      _ = room.received(joined("me", [server]), now: start)
      _ = room.received(.stateChanged(.disconnected), of: anna, now: start)
      _ = room.received(.stateChanged(.connected), of: anna, now: start + .seconds(1))
      #expect(room.deadline == nil)
      _ = room.received(.stateChanged(.disconnected), of: anna, now: start + .seconds(2))
      let due = room.timeReached(now: start + .seconds(6))
      let reason = CloseReason(.connectionLost, "The server sent nothing for some seconds.")
      #expect(due == (reports ? [] : [.disconnect(anna, reason)]))
    }
  }

  @Test(
    "the system is told of a connection that ended, unless the participant closed it or another one takes its place")
  func hangUp() {
    var (room, janus) = (room(), room { $0.requiresHangUpWhenClosedByParticipant = true })
    for cause in [CloseReason.Cause.closedByUs, .connectionLost, .failed] {
      let actions = room.received(.ended(CloseReason(cause, "")), of: anna, now: start)
      #expect(actions == [.hangUp(anna)])
    }
    let closed = PeerEvent.ended(CloseReason(.closedByParticipant, ""))
    let replaced = PeerEvent.ended(CloseReason(.closedByUs, "", isReplaced: true))
    let quiet = room.received(closed, of: anna, now: start) + room.received(replaced, of: anna, now: start)
    let told = janus.received(closed, of: anna, now: start)
    #expect(quiet == [] && told == [.hangUp(anna)])
  }

  @Test("the connection to the server is checked when a path is lost, not when somebody asked for another path")
  func verification() {
    var room = room()
    let asked = room.received(.iceRestarted(.requested), of: anna, now: start)
    let lost = room.received(.iceRestarted(.pathLost), of: anna, now: start)
    #expect(asked == [] && lost == [.verifyConnection])
  }

  @Test(
    "the signalling ends once, and a refusal before the first join is one of admission",
    arguments: [
      (SignallingEvent.closed(reason: "Over."), RoomEndReason.closed("Over.")),
      (.rejected(reason: "No."), .rejected("No.")),
    ])
  func end(event: SignallingEvent, reason: RoomEndReason) {
    var (early, late) = (room(), room())
    let refused = early.received(event, now: start)
    _ = late.received(joined("me", others(30)), now: start)
    let ended = late.received(event, now: start)
    let afterwards = late.received(joined("me", others(3)), now: start) + late.signallingEnded()
    #expect(refused == [.end(.notAdmitted(event == .closed(reason: "Over.") ? "Over." : "No."))])
    #expect(ended == [.end(reason)] && afterwards == [] && late.deadline == nil)
    var lost = room()
    let unreachable = lost.received(.connectionLost(reason: "Full.", retryAfter: .seconds(1)), now: start)
    var left = room()
    let finished = left.signallingEnded()
    #expect(unreachable == [.end(.notAdmitted("Full."))] && finished == [.end(.left)])
  }

  @Test("of any number of participants, a limited number is stored")
  func limit() {
    var room = room()
    _ = room.received(joined("me", []), now: start)
    for number in 0..<(RoomState.maximumParticipants + 100) {
      let id = ParticipantID("user-\(number)")
      _ = room.received(.participantJoined(SignalledParticipant(id, offerer: .remote)), now: start)
    }
    #expect(room.participantCount == RoomState.maximumParticipants)
    for number in 0..<(RoomState.maximumParticipants + 100) {
      _ = room.received(.participantLeft(ParticipantID("user-\(number)"), isRejoinVerified: true), now: start)
    }
    #expect(room.participantCount == 0)
  }
}
