import BotPeer
import Call
import Media
import Signalling
import Testing

@Suite("leaving an empty room")
struct RoomOccupancyTests {
  private let start = MonotonicInstant.now

  private func at(_ seconds: Int64) -> MonotonicInstant { start + .seconds(seconds) }

  private func occupancy(empty: Int64? = 30, nobody: Int64? = 60) -> RoomOccupancy {
    RoomOccupancy(emptyLimit: empty.map { .seconds($0) }, nobodyLimit: nobody.map { .seconds($0) })
  }

  private let joined = SignallingEvent.joined(id: "me", others: [])
  private let gone = PeerEvent.ended(.init(.closedByParticipant, "Gone."))

  private func arrival(_ id: ParticipantID) -> SignallingEvent {
    .participantJoined(SignalledParticipant(id, offerer: .remote))
  }

  @Test("nobody comes: the time counts from the join, also over a lost connection")
  func nobody() {
    var room = occupancy()
    #expect(room.deadline == nil && room.endReason(now: at(1_000)) == nil)
    room.received(joined, now: at(5))
    #expect(room.deadline == at(65) && room.endReason(now: at(64)) == nil)
    room.received(.connectionLost(reason: "", retryAfter: .seconds(1)), now: at(20))
    room.received(joined, now: at(30))
    #expect(room.deadline == at(65) && room.endReason(now: at(65)) == .nobodyCame(.seconds(60)))
    #expect("\(RoomCall.EndReason.nobodyCame(.milliseconds(1_500)))" == "nobody came within 1.5 s")
  }

  @Test("somebody comes and leaves: the time counts from the last moment that anybody was there")
  func empty() {
    var room = occupancy()
    room.received(joined, now: at(0))
    room.received(arrival("anna"), now: at(10))
    #expect(room.deadline == nil)
    room.received(arrival("bob"), now: at(20))
    room.received(.participantLeft("anna", isRejoinVerified: false), now: at(30))
    #expect(room.deadline == nil && room.endReason(now: at(1_000)) == nil)
    room.received(.participantLeft("bob", isRejoinVerified: false), now: at(40))
    #expect(room.deadline == at(70))
    room.received(arrival("bob"), now: at(60))
    #expect(room.deadline == nil)
    room.received(.participantLeft("bob", isRejoinVerified: false), now: at(61))
    #expect(room.endReason(now: at(90)) == nil && room.endReason(now: at(91)) == .roomEmpty(.seconds(30)))
    #expect("\(RoomCall.EndReason.roomEmpty(.seconds(30)))" == "everybody left, and nobody came for 30 s")
  }

  @Test("a connection counts after the signalling has said goodbye, and when it never announced anybody")
  func connections() {
    var room = occupancy()
    room.received(joined, now: at(0))
    room.received(.participantJoined(.init("late", offerer: .local, isExpected: true)), now: at(1))
    room.received(.stateChanged(.connecting), of: "late", now: at(1))
    #expect(room.deadline == at(60), "who may not be there yet is nobody")
    room.received(.stateChanged(.connected), of: "late", now: at(2))
    #expect(room.deadline == nil)
    room.received(gone, of: "late", now: at(9))
    #expect(room.deadline == at(39))
    room.received(arrival("anna"), now: at(10))
    room.received(.stateChanged(.connected), of: "anna", now: at(11))
    room.received(.participantLeft("anna", isRejoinVerified: false), now: at(12))
    #expect(room.deadline == nil)
    room.received(gone, of: "anna", now: at(15))
    #expect(room.deadline == at(45))
  }

  @Test("a server that has forgotten everybody does not empty the room while calls continue")
  func restartedServer() {
    var room = occupancy()
    room.received(.joined(id: "me", others: [.init("anna", offerer: .local)]), now: at(0))
    room.received(.stateChanged(.connected), of: "anna", now: at(1))
    room.received(joined, now: at(10))
    #expect(room.deadline == nil)
    room.received(gone, of: "anna", now: at(20))
    #expect(room.deadline == at(50))
  }

  @Test("a media server that we publish to is nobody, and without limits the call never ends")
  func others() {
    var room = occupancy()
    room.received(
      .joined(id: "me", others: [.init("server", offerer: .local, direction: .sendOnly)]), now: at(0))
    room.received(.stateChanged(.connected), of: "server", now: at(1))
    #expect(room.deadline == at(60))
    var patient = occupancy(empty: nil, nobody: nil)
    patient.received(joined, now: at(0))
    patient.received(arrival("anna"), now: at(1))
    patient.received(.participantLeft("anna", isRejoinVerified: false), now: at(2))
    #expect(patient.deadline == nil && patient.endReason(now: at(1_000_000)) == nil)
  }
}
