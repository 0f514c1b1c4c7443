import Call
import Testing

@Suite("the recordings that a call requires")
struct SessionRequirementTests {
  private func user(_ id: String, _ name: String?, explanation: String? = nil) -> SessionSummary.User {
    var user = SessionSummary.User(id: id, name: name, from: "", to: "", fromSeconds: 0, toSeconds: 1)
    user.recorded = explanation == nil
    user.explanation = explanation
    return user
  }

  private func summary(_ users: [SessionSummary.User]) -> SessionSummary {
    var summary = SessionSummary(
      room: "1", start: "", end: "", duration: 1, endReason: .init(cause: "left", text: ""), recording: true)
    summary.users = users
    summary.recordedUsers = users.count(where: \.recorded)
    return summary
  }

  @Test("a number is a count of users, and anything else the id or name of one")
  func parsing() {
    #expect(SessionRequirement("3") == .users(3) && SessionRequirement("0") == .users(0))
    #expect(SessionRequirement("anna") == .user("anna") && SessionRequirement("3a") == .user("3a"))
    #expect(SessionRequirement("-1") == .user("-1") && SessionRequirement("") == nil)
    #expect(SessionRequirement("99999999999999999999") == .user("99999999999999999999"))
  }

  @Test("id: and name: say which of both is meant, and a number above the maximum number of users is an id")
  func prefixes() {
    #expect(SessionRequirement("10000") == .users(10_000) && SessionRequirement("10001") == .user("10001"))
    #expect(SessionRequirement("5813094201") == .user("5813094201"))
    #expect(SessionRequirement("id:5813094201") == .id("5813094201") && SessionRequirement("name:2") == .name("2"))
    #expect(SessionRequirement("id:") == nil && SessionRequirement("name:") == nil)
    #expect(SessionRequirement("name:id:1") == .name("id:1"))
    let summary = summary([user("5813094201", "2"), user("2", "Anna", explanation: "left at once")])
    #expect(summary.missing(of: [.id("5813094201"), .name("2"), .user("5813094201"), .user("2")]) == nil)
    #expect(summary.missing(of: [.id("2")]) == "“2” was not recorded: left at once.")
    #expect(summary.missing(of: [.name("5813094201")]) == "“5813094201” was not in the room.")
  }

  @Test("of a user who may be one of those that are not listed, nothing is claimed")
  func omitted() {
    var summary = summary([user("a1", "Anna")])
    summary.usersOmitted = 3
    let sentence = summary.missing(of: [.user("Zoe")])
    #expect(sentence == "“Zoe” is not among the first 1 users, and the summary does not list others.")
  }

  @Test("users count when they were recorded, and are named by id or name")
  func held() {
    let summary = summary([user("a1", "Anna"), user("b2", nil), user("c3", "Carl", explanation: "left at once")])
    #expect(summary.missing(of: []) == nil)
    #expect(summary.missing(of: [.users(2), .user("Anna"), .user("b2"), .users(0)]) == nil)
  }

  @Test("one sentence says all that is missing, with the reason")
  func missing() {
    let summary = summary([
      user("a1", "Anna"), user("c3", "Carl", explanation: "We refused the video of section 1: x."),
    ])
    #expect(
      summary.missing(of: [.users(2)])
        == "1 of 2 required users was recorded (not recorded: Carl (c3): We refused the video of section 1: x).")
    #expect(
      summary.missing(of: [.user("Carl"), .user("Dora"), .users(3)])
        == "“Carl” was not recorded: We refused the video of section 1: x; “Dora” was not in the room; "
        + "1 of 3 required users was recorded.")
    let many = (0..<9).map { SessionRequirement.user("u\($0)") }
    #expect(summary.missing(of: many)?.hasSuffix("; and 4 more.") == true)
  }

  @Test("of too few users, at most three who were not recorded are named, each once")
  func notRecorded() {
    let silent = (1...5).map { user("s\($0)", "Silent", explanation: "announced to send nothing") }
    let one = summary([user("a1", "Anna"), silent[0]])
    #expect(
      one.missing(of: [.users(2), .user("Anna")])
        == "1 of 2 required users was recorded (not recorded: Silent (s1): announced to send nothing).")
    let many = summary([user("a1", "Anna")] + silent).missing(of: [.users(2), .id("s1")])
    #expect(many?.split(separator: "Silent (s").count == 4)
    #expect(many?.hasSuffix("; and 1 more); “s1” was not recorded: announced to send nothing.") == true)
    var server = user("sfu", nil, explanation: "a media server")
    server.reason = .mediaServer
    #expect(summary([server]).missing(of: [.users(1)]) == "0 of 1 required users were recorded.")
  }

  @Test("a name that several users had is satisfied by one of them")
  func sameName() {
    let summary = summary([user("a1", "Anna", explanation: "left"), user("a2", "Anna")])
    #expect(summary.missing(of: [.user("Anna")]) == nil)
    #expect(summary.missing(of: [.user("a1")]) == "“a1” was not recorded: left.")
  }
}
