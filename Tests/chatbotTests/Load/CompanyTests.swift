import Testing

@testable import chatbot

@Suite("publishers of one process call each other only if they are to receive")
struct CompanyTests {
  @Test("those whose ids are known are no strangers")
  func known() async {
    let company = Company(callEachOther: false)
    company.begins(0)
    company.joined(0, as: "ours")
    #expect(await company.callees(among: ["ours", "theirs"]) == ["theirs"])
    #expect(company.leavesAlone("ours"))
    #expect(!company.leavesAlone("theirs"))
    #expect(company.id(of: 0) == "ours")
    #expect(company.id(of: 1) == "")
  }

  @Test("one who is just joining is waited for, and turns out to be ours")
  func joining() async {
    let company = Company(callEachOther: false)
    company.begins(0)
    company.begins(1)
    company.joined(1, as: "second")
    async let callees = company.callees(among: ["first", "recorder"])
    await Task.yield()
    company.joined(0, as: "first")
    #expect(await callees == ["recorder"])
  }

  @Test("one who gives up is waited for no longer")
  func givingUp() async {
    let company = Company(callEachOther: false)
    company.begins(0)
    async let callees = company.callees(among: ["recorder"])
    await Task.yield()
    company.gaveUp(0)
    #expect(await callees == ["recorder"])
  }

  @Test("who has another id after a lost connection to the server keeps the former one too")
  func again() async {
    let company = Company(callEachOther: false)
    company.begins(0)
    company.joined(0, as: "old")
    company.joined(0, as: "new")
    #expect(company.id(of: 0) == "new")
    #expect(await company.callees(among: ["old", "new"]).isEmpty)
  }

  @Test("those who are to receive call everybody, at once")
  func receiving() async {
    let company = Company(callEachOther: true)
    company.begins(0)
    company.begins(1)
    company.joined(0, as: "ours")
    #expect(await company.callees(among: ["ours", "theirs"]) == ["ours", "theirs"])
    #expect(!company.leavesAlone("ours"))
  }
}
