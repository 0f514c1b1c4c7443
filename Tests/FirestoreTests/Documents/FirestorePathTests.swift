import Firestore
import Testing

@Suite("Firestore paths and times")
struct FirestorePathTests {
  @Test(
    "an id without a slash is encoded into one part of a path",
    arguments: [
      ("100", "100"), ("Unit test", "Unit%20test"), ("a?b#c%", "a%3Fb%23c%25"), ("ü", "%C3%BC"), ("..a", "..a"),
    ])
  func encoding(text: String, encoded: String) throws {
    let database = try FirestoreDatabase(project: "p")
    let request = FirestoreRequest.get(CollectionPath("rooms").document(try FirestoreID(text)), in: database)
    #expect(request.target == "projects/p/databases/(default)/documents/rooms/" + encoded)
    #expect(try FirestoreAddress("firestore://p/rooms/\(encoded)").room == text)
  }

  @Test(
    "an id that would name something else is rejected",
    arguments: [
      "", ".", "..", "a/b", "/", "__name__", String(repeating: "x", count: 1_501),
    ])
  func invalidIDs(text: String) {
    #expect(throws: FirestoreID.ParseError.self) { try FirestoreID(text) }
  }

  @Test("a project that would change the path is rejected", arguments: ["", "a/b", "a?b", "a b", "..%2f", "ä"])
  func invalidProjects(text: String) {
    #expect(throws: FirestoreDatabase.ParseError.self) { try FirestoreDatabase(project: text) }
  }

  @Test("only names of documents of the same database are paths")
  func names() throws {
    let database = try FirestoreDatabase(project: "p")
    let path = ConnectionDocuments.room("1", role: "host").description
    #expect(database.path(ofName: database.name(of: path)) == path)
    #expect(path.description == "rooms/1/host/sdp")
    #expect(ConnectionDocuments.room("1", role: "host").candidates.description == "rooms/1/host/candidates/candidate")
    #expect(ConnectionDocuments.person("tom").candidates.description == "tom/candidate/candidates")
    for name in [
      "", "projects/p", "projects/q/databases/(default)/documents/a/b", database.root, database.root + "/",
      database.root + "/a", database.root + "/a/b/c", database.root + "//b", database.root + "/a/..",
    ] {
      #expect(database.path(ofName: name) == nil)
    }
  }

  @Test("times are compared to the nanosecond, whatever the number of their digits")
  func times() throws {
    let texts = [
      "1969-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "2026-11-24T21:03:04.1Z", "2026-11-24T21:03:04.123456Z",
      "2026-11-24T21:03:04.123456789Z", "2026-11-24T21:03:05Z",
    ]
    let times = try texts.map { try #require(FirestoreTimestamp(parsing: $0)) }
    #expect(times == times.sorted())
    #expect(times[0].seconds == -1)
    #expect(times[1].seconds == 951_825_600)
    #expect(times[4].nanoseconds == 123_456_789)
    #expect(times[5].earlier(by: .seconds(1)).seconds == times[4].seconds)
  }

  @Test(
    "a text that is no time is rejected",
    arguments: [
      "", "Z", "yesterday", "2026-11-24", "2026-13-24T21:03:04Z", "2026-11-24T21:03:04", "2026-11-24T21:03:04.Z",
      "2026-11-24T21:03:04+01:00", "2026-11-24T25:03:04Z", "2026-11-24T21:03:04.1234567890Z", "-026-11-24T21:03:04Z",
    ])
  func invalidTimes(text: String) {
    #expect(FirestoreTimestamp(parsing: text) == nil)
  }
}
