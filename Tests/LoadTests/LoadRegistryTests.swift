import Load
import Media
import Signalling
import Testing

@Suite("the registry of a load's publishers")
struct PublisherRegistryTests {
  @Test("publishers with known ids are not called")
  func known() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    publisherRegistry.joined(0, as: "ours")
    #expect(await publisherRegistry.callees(among: ["ours", "theirs"]) == ["theirs"])
    #expect(publisherRegistry.leavesAlone("ours"))
    #expect(!publisherRegistry.leavesAlone("theirs"))
  }

  @Test("an unknown id is held until a joining publisher of ours knows its own")
  func joining() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    publisherRegistry.begins(1)
    publisherRegistry.joined(1, as: "second")
    async let callees = publisherRegistry.callees(among: ["first", "recorder"])
    await Task.yield()
    publisherRegistry.joined(0, as: "first")
    #expect(await callees == ["recorder"])
  }

  @Test("a publisher that gives up is not waited for")
  func givingUp() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    async let callees = publisherRegistry.callees(among: ["recorder"])
    await Task.yield()
    publisherRegistry.gaveUp(0)
    #expect(await callees == ["recorder"])
  }

  @Test("a publisher with a new id after a lost connection also keeps the former one")
  func again() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    publisherRegistry.joined(0, as: "old")
    publisherRegistry.joined(0, as: "new")
    #expect(await publisherRegistry.callees(among: ["old", "new"]).isEmpty)
  }

  @Test("events of our other publishers are left out, but not the answers to our offers")
  func filter() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    publisherRegistry.begins(1)
    publisherRegistry.joined(1, as: "second")
    let (second, recorder) = (ParticipantID("second"), ParticipantID("recorder"))
    let others = [second, recorder].map { SignalledParticipant($0, offerer: .local) }
    let joined = await publisherRegistry.filter(.joined(id: "first", others: others), of: 0)
    #expect(joined == .joined(id: "first", others: [others[1]]))
    #expect(publisherRegistry.leavesAlone("first"))
    for (event, isLeftOut) in [
      (SignallingEvent.participantJoined(others[0]), true), (.participantJoined(others[1]), false),
      (.message(.offer("v=0"), from: second), true), (.message(.answer("v=0"), from: second), false),
      (.message(.offer("v=0"), from: recorder), false), (.closed(reason: "Over."), false),
    ] {
      #expect(await publisherRegistry.filter(event, of: 0) == (isLeftOut ? nil : event))
    }
  }

  @Test("publishers that receive call everyone, without waiting")
  func receiving() async {
    let publisherRegistry = PublisherRegistry(callEachOther: true)
    publisherRegistry.begins(0)
    publisherRegistry.begins(1)
    publisherRegistry.joined(0, as: "ours")
    #expect(await publisherRegistry.callees(among: ["ours", "theirs"]) == ["ours", "theirs"])
    #expect(!publisherRegistry.leavesAlone("ours"))
  }
}
