import Media
import RoomServer
import Signalling
import Testing

@Suite("Publishers of WHIP in a room")
struct RoomPublisherIDsTests {
  private let publisher = SignalledParticipant(ParticipantID("publisher"), offerer: .remote)
  private let viewer = SignalledParticipant(ParticipantID("viewer"), offerer: .remote)

  @Test("a publisher does not connect to other publishers, but to everybody else")
  func others() {
    let ids = RoomPublisherIDs()
    ids.replace(nil, by: publisher.id)
    let own = ParticipantID("own")
    #expect(
      ids.removed(from: .joined(id: own, others: [publisher, viewer])) == .joined(id: own, others: [viewer]))
    #expect(ids.removed(from: .participantJoined(publisher)) == nil)
    #expect(ids.removed(from: .message(.offer("v=0"), from: publisher.id)) == nil)
    for event in [SignallingEvent.participantJoined(viewer), .message(.offer("v=0"), from: viewer.id)] {
      #expect(ids.removed(from: event) == event)
    }
  }

  @Test("a publisher that has another id, or has left, is not remembered under the former one")
  func left() {
    let ids = RoomPublisherIDs()
    ids.replace(nil, by: viewer.id)
    ids.replace(viewer.id, by: publisher.id)
    #expect(ids.removed(from: .participantJoined(viewer)) == .participantJoined(viewer))
    #expect(ids.removed(from: .participantJoined(publisher)) == nil)
    ids.replace(publisher.id, by: nil)
    #expect(ids.removed(from: .participantJoined(publisher)) == .participantJoined(publisher))
  }
}
