import Firestore
import FoundationEssentials
import Media
import TestSupport
import Testing

@Suite("Firestore requests and responses")
struct FirestoreMessagesTests {
  private let database = FirestoreMessagesTests.database()

  private static func database() -> FirestoreDatabase {
    guard let database = try? FirestoreDatabase(project: "p") else { fatalError("p is a project") }
    return database
  }

  private let document = #"""
    {"name":"projects/p/databases/(default)/documents/rooms/1/host/sdp","fields":{"sdp":{"stringValue":"v=0\r\n"},
    "type":{"stringValue":"offer"},"index":{"integerValue":"7"},"number":{"integerValue":8},
    "ratio":{"doubleValue":2.0},"flag":{"booleanValue":true},"nothing":{"nullValue":null},
    "map":{"mapValue":{"fields":{}}}},"createTime":"2026-11-24T21:03:04.1Z","updateTime":"2026-11-24T21:03:05.1Z"}
    """#

  @Test("a document is read with all types of values")
  func readsDocument() throws {
    let read = try FirestoreResponse.document(Data(document.utf8), in: database)
    #expect(read.path == ConnectionDocuments.room("1", role: "host").description)
    #expect(read.fields["sdp"]?.text == "v=0\r\n")
    #expect(read.fields["index"]?.integer == 7)
    #expect(read.fields["number"]?.integer == 8)
    #expect(read.fields["ratio"]?.integer == 2)
    #expect(read.fields["flag"] == .boolean(true))
    #expect(read.fields["nothing"] == .null)
    #expect(read.fields["map"] == .other)
  }

  @Test("a commit is one body with all writes")
  func writesCommit() throws {
    let side = ConnectionDocuments.person("tom")
    let request = FirestoreRequest.commit(
      [
        .set(side.description, StoredDescription.fields(.answer, sdp: "v=0")),
        .delete(side.candidates.document("0001")),
      ], in: database)
    #expect(request.target == "projects/p/databases/(default)/documents:commit")
    #expect(
      String(decoding: request.body ?? Data(), as: UTF8.self)
        == #"{"writes":[{"update":{"fields":{"sdp":{"stringValue":"v=0"},"type":{"stringValue":"answer"}},"#
        + #""name":"projects/p/databases/(default)/documents/tom/sdp"}},"#
        + #"{"delete":"projects/p/databases/(default)/documents/tom/candidate/candidates/0001"}]}"#)
  }

  @Test("entries of a page that are no documents are left out and counted")
  func readsPage() throws {
    let page = try FirestoreResponse.page(
      Data(#"{"documents":[1,null,{"name":"x"},\#(document)],"nextPageToken":"t"}"#.utf8), in: database)
    #expect(page.documents.count == 1)
    #expect(page.ignoredCount == 3)
    #expect(page.nextPageToken == "t")
    let empty = try FirestoreResponse.page(Data("{}".utf8), in: database)
    #expect(empty.documents.isEmpty && empty.nextPageToken == nil && empty.ignoredCount == 0)
  }

  @Test("a status is mapped to an error of one sentence, with the server's reason")
  func statuses() {
    let body = Data(#"{"error":{"code":403,"message":"Missing or insufficient permissions.","status":"X"}}"#.utf8)
    let error = FirestoreResponse.error(status: 403, body: body, retryAfter: nil, about: "x")
    #expect(
      error?.description
        == "Firestore does not accept the credentials (403: Missing or insufficient permissions).")
    #expect(error?.isPermanent == true)
    #expect(FirestoreResponse.error(status: 200, body: body, retryAfter: nil, about: "x") == nil)
    #expect(FirestoreResponse.error(status: 404, body: body, retryAfter: nil, about: "x") == .notFound("x"))
    for status: UInt in [429, 500, 502, 503, 504] {
      let busy = FirestoreResponse.error(status: status, body: Data(), retryAfter: .seconds(3), about: "x")
      #expect(busy?.retryAfter == .seconds(3))
      #expect(busy?.isPermanent == false)
    }
  }

  @Test("damaged responses are errors and never end the program", arguments: 0..<40)
  func damaged(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for text in [
      document, #"{"documents":[\#(document)],"nextPageToken":"t"}"#, #"{"commitTime":"2026-11-24T21:03:04Z"}"#,
    ] {
      for _ in 0..<25 {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
          let index = Int.random(in: 0..<bytes.count, using: &generator)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
          case 1: bytes.remove(at: index)
          case 2: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: index)
          default: bytes.removeSubrange(index...)
          }
        }
        if let read = try? FirestoreResponse.document(Data(bytes), in: database) {
          _ = try? StoredDescription(parsing: read)
          _ = try? StoredCandidate(parsing: read)
        }
        _ = try? FirestoreResponse.page(Data(bytes), in: database)
        _ = try? FirestoreResponse.commitTime(Data(bytes))
        _ = AccessToken(parsing: Data(bytes), now: .now)
      }
    }
  }

  @Test("deeply nested values are an error or ignored")
  func nested() {
    let depth = 50_000
    let value = String(repeating: #"{"mapValue":{"fields":{"a":"#, count: depth)
    let text = #"{"name":"x","fields":{"a":\#(value)"#
    #expect(throws: FirestoreError.self) { try FirestoreResponse.document(Data(text.utf8), in: database) }
  }
}
