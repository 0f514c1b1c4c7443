import Testing

@testable import chatbot

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
    #expect(publisherRegistry.id(of: 0) == "ours")
    #expect(publisherRegistry.id(of: 1) == "")
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
    #expect(publisherRegistry.id(of: 0) == "new")
    #expect(await publisherRegistry.callees(among: ["old", "new"]).isEmpty)
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
