import Testing

@testable import chatbot

@Suite("publishers of one process call each other only if they are to receive")
struct PublisherRegistryTests {
  @Test("those whose ids are known are no strangers")
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

  @Test("one who is just joining is waited for, and turns out to be ours")
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

  @Test("one who gives up is waited for no longer")
  func givingUp() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    async let callees = publisherRegistry.callees(among: ["recorder"])
    await Task.yield()
    publisherRegistry.gaveUp(0)
    #expect(await callees == ["recorder"])
  }

  @Test("who has another id after a lost connection to the server keeps the former one too")
  func again() async {
    let publisherRegistry = PublisherRegistry(callEachOther: false)
    publisherRegistry.begins(0)
    publisherRegistry.joined(0, as: "old")
    publisherRegistry.joined(0, as: "new")
    #expect(publisherRegistry.id(of: 0) == "new")
    #expect(await publisherRegistry.callees(among: ["old", "new"]).isEmpty)
  }

  @Test("those who are to receive call everybody, at once")
  func receiving() async {
    let publisherRegistry = PublisherRegistry(callEachOther: true)
    publisherRegistry.begins(0)
    publisherRegistry.begins(1)
    publisherRegistry.joined(0, as: "ours")
    #expect(await publisherRegistry.callees(among: ["ours", "theirs"]) == ["ours", "theirs"])
    #expect(!publisherRegistry.leavesAlone("ours"))
  }
}
