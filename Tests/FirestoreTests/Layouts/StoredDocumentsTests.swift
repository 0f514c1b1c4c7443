import Firestore
import Media
import Signalling
import Testing

@Suite("Descriptions and candidates as documents")
struct StoredDocumentsTests {
  private let time = FirestoreTimestamp(seconds: 100)

  private func document(_ fields: [String: FirestoreValue]) -> FirestoreDocument {
    FirestoreDocument(path: ConnectionDocuments.person("tom").description, fields: fields, updateTime: time)
  }

  @Test(
    "a description is read with its fragment; a provisional answer counts as an answer",
    arguments: [
      ("offer", StoredDescription.Kind.offer), ("answer", .answer), ("prAnswer", .answer), ("pranswer", .answer),
    ])
  func description(type: String, kind: StoredDescription.Kind) throws {
    let sdp = TestDescription.sdp("abcd", candidates: [])
    let read = try StoredDescription(
      parsing: document(["sdp": .string(UntrustedText(sdp)), "type": .string(UntrustedText(type))]))
    #expect(read.kind == kind)
    #expect(read.usernameFragment == "abcd")
    #expect(read.sdp == sdp)
  }

  @Test("a document that is no description is an error of one sentence")
  func invalidDescriptions() {
    let sdp = FirestoreValue.string("v=0")
    #expect(throws: StoredDescription.ParseError.missing(field: "sdp", document: "tom/sdp")) {
      try StoredDescription(parsing: document(["type": .string("offer")]))
    }
    #expect(throws: StoredDescription.ParseError.missing(field: "type", document: "tom/sdp")) {
      try StoredDescription(parsing: document(["sdp": sdp, "type": .integer(1)]))
    }
    #expect(throws: StoredDescription.ParseError.unknownType("rollback", document: "tom/sdp")) {
      try StoredDescription(parsing: document(["sdp": sdp, "type": .string("rollback")]))
    }
    let long = String(repeating: "v", count: StoredDescription.maximumBytes + 1)
    #expect(throws: StoredDescription.ParseError.self) {
      try StoredDescription(parsing: document(["sdp": .string(UntrustedText(long)), "type": .string("offer")]))
    }
  }

  @Test("a candidate is read without a mid, and with an absurd index as if there were none")
  func candidate() throws {
    let fields: [String: FirestoreValue] = ["sdp": .string("candidate:1"), "sdpMLineIndex": .integer(.max)]
    let read = try StoredCandidate(parsing: document(fields))
    #expect(read.candidate == TrickledCandidate(candidate: "candidate:1", mid: nil, mLineIndex: nil))
    #expect(throws: StoredCandidate.ParseError.self) { try StoredCandidate(parsing: document([:])) }
    let long = FirestoreValue.string(UntrustedText(String(repeating: "c", count: StoredCandidate.maximumBytes + 1)))
    #expect(throws: StoredCandidate.ParseError.self) { try StoredCandidate(parsing: document(["sdp": long])) }
  }

  @Test("a candidate belongs to the description with its fragment, or without one to a description of its time")
  func belongs() {
    let description = StoredDescription(.offer, sdp: TestDescription.sdp("new", candidates: []), updateTime: time)
    func belongs(_ text: String, at seconds: Int64) -> Bool {
      StoredCandidate(
        TrickledCandidate(candidate: text), updateTime: FirestoreTimestamp(seconds: seconds)
      ).belongs(to: description)
    }
    #expect(belongs("candidate:1 1 udp 1 10.0.0.1 5000 typ host ufrag new", at: 1))
    #expect(!belongs("candidate:1 1 udp 1 10.0.0.1 5000 typ host ufrag old", at: 100))
    #expect(belongs("candidate:1 1 udp 1 10.0.0.1 5000 typ host", at: 99))
    #expect(!belongs("candidate:1 1 udp 1 10.0.0.1 5000 typ host", at: 50))
  }

  @Test("the candidates of a description are written in one commit with it, the best one first, and old ones deleted")
  func replacing() throws {
    let side = ConnectionDocuments.person("tom")
    let outgoing = OutgoingDescription(.offer, sdp: TestDescription.sdp("abcd", candidates: TestDescription.lines))
    let stale = side.candidates.document("zzz")
    let writes = side.replacing(with: outgoing, existing: [stale, side.candidates.document("0000")])
    #expect(
      writes.map(\.path.description) == [
        "tom/candidate/candidates/0000", "tom/candidate/candidates/0001", "tom/candidate/candidates/zzz", "tom/sdp",
      ])
    guard case .set(_, let first) = writes[0] else { throw Unexpected.write }
    #expect(first["sdp"] == .string("candidate:2 1 udp 2122260223 10.0.0.1 5000 typ host ufrag abcd"))
    #expect(first["sdpMid"] == .string("0"))
    #expect(first["sdpMLineIndex"] == .integer(0))
    #expect(writes[2] == .delete(stale))
  }

  private enum Unexpected: Error { case write }
}
