import Load
import Media
import Signalling
import Testing

@Suite("the registry of a load's publishers")
struct LoadRegistryTests {
  @Test("publishers with known ids are not called")
  func known() async {
    let registry = LoadRegistry(callEachOther: false)
    registry.begins(0)
    registry.joined(0, as: "ours")
    #expect(await registry.callees(among: ["ours", "theirs"]) == ["theirs"])
    #expect(registry.mustNotCall("ours"))
    #expect(!registry.mustNotCall("theirs"))
  }

  /// Returns when a participant waits for the ids of others.
  private func waiting(in registry: LoadRegistry) async {
    while registry.waiting == 0 { await Task.yield() }
  }

  @Test("an unknown id is held until a joining publisher of ours knows its own", .timeLimit(.minutes(1)))
  func joining() async {
    let registry = LoadRegistry(callEachOther: false)
    registry.begins(0)
    registry.begins(1)
    registry.joined(1, as: "second")
    async let callees = registry.callees(among: ["first", "recorder"])
    await waiting(in: registry)
    registry.joined(0, as: "first")
    #expect(await callees == ["recorder"])
  }

  @Test("a publisher that gives up is not waited for", .timeLimit(.minutes(1)))
  func givingUp() async {
    let registry = LoadRegistry(callEachOther: false)
    registry.begins(0)
    async let callees = registry.callees(among: ["recorder"])
    await waiting(in: registry)
    registry.gaveUp(0)
    #expect(await callees == ["recorder"])
  }

  @Test("a publisher with a new id after a lost connection also keeps the former one")
  func again() async {
    let registry = LoadRegistry(callEachOther: false)
    registry.begins(0)
    registry.joined(0, as: "old")
    registry.joined(0, as: "new")
    #expect(await registry.callees(among: ["old", "new"]).isEmpty)
  }

  @Test("events of our other publishers are left out, but not the answers to our offers")
  func filter() async {
    let registry = LoadRegistry(callEachOther: false)
    registry.begins(0)
    registry.begins(1)
    registry.joined(1, as: "second")
    let (second, recorder) = (ParticipantID("second"), ParticipantID("recorder"))
    let others = [second, recorder].map { SignalledParticipant($0, offerer: .local) }
    let joined = await registry.filter(.joined(id: "first", others: others), of: 0)
    #expect(joined == .joined(id: "first", others: [others[1]]))
    #expect(registry.mustNotCall("first"))
    for (event, isLeftOut) in [
      (SignallingEvent.participantJoined(others[0]), true), (.participantJoined(others[1]), false),
      (.message(.offer("v=0"), from: second), true), (.message(.answer("v=0"), from: second), false),
      (.message(.offer("v=0"), from: recorder), false), (.closed(reason: "Over."), false),
    ] {
      #expect(await registry.filter(event, of: 0) == (isLeftOut ? nil : event))
    }
  }

  @Test("viewers and publishers call each other, viewers never call viewers")
  func viewers() async {
    for callEachOther in [false, true] {
      let registry = LoadRegistry(callEachOther: callEachOther, publishers: 1)
      for (index, id) in ["publisher", "viewer", "other viewer"].enumerated() {
        registry.begins(index)
        registry.joined(index, as: id)
      }
      let ids = ["publisher", "viewer", "other viewer", "person"]
      #expect(await registry.callees(among: ids, of: 1) == ["publisher", "person"])
      let ofPublisher = await registry.callees(among: ids, of: 0)
      #expect(ofPublisher == (callEachOther ? ids : ["viewer", "other viewer", "person"]))
      #expect(registry.mustNotCall("viewer", of: 2) && !registry.mustNotCall("viewer", of: 0))
      #expect(!registry.mustNotCall("publisher", of: 1))
      let offer = SignallingEvent.message(.offer("v=0"), from: ParticipantID("viewer"))
      #expect(await registry.filter(offer, of: 0) == offer)
      #expect(await registry.filter(offer, of: 2) == nil)
    }
  }

  @Test("publishers that receive call everyone, without waiting")
  func receiving() async {
    let registry = LoadRegistry(callEachOther: true)
    registry.begins(0)
    registry.begins(1)
    registry.joined(0, as: "ours")
    #expect(await registry.callees(among: ["ours", "theirs"]) == ["ours", "theirs"])
    #expect(!registry.mustNotCall("ours"))
  }
}
