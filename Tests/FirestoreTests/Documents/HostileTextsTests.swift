import FoundationEssentials
import Signalling
import TestSupport
import Testing

@testable import Firestore

@Suite("Firestore: texts that nobody should store")
struct HostileTextsTests {
  /// One character of 120,000 bytes, which takes more than a second to compare.
  private static let marks = "e" + String(repeating: "\u{0301}\u{0316}", count: 30_000)

  private static func document(_ fields: [String: FirestoreValue]) -> FirestoreDocument {
    FirestoreDocument(
      path: CollectionPath("a").document("b"), fields: fields, updateTime: FirestoreTimestamp(seconds: 1))
  }

  @Test("a description or a candidate with a long run of combining marks is rejected, which costs no time")
  func combiningMarks() {
    let fields: [String: FirestoreValue] = ["sdp": .string("v=0\r\n" + Self.marks), "type": .string("offer")]
    let taken = ProcessorTime.least(within: .milliseconds(50)) {
      #expect(throws: StoredDescription.ParseError.notASCII(document: "a/b")) {
        try StoredDescription(parsing: Self.document(fields))
      }
      #expect(throws: StoredDescription.ParseError.unknownType(Self.marks, document: "a/b")) {
        try StoredDescription(parsing: Self.document(["sdp": .string("v=0"), "type": .string(Self.marks)]))
      }
      let short = "candidate:1 1 udp 1 x 1 typ host ufrag e" + String(repeating: "\u{0301}", count: 40)
      #expect(throws: StoredCandidate.ParseError.notASCII(document: "a/b")) {
        try StoredCandidate(parsing: Self.document(["sdp": .string(short)]))
      }
    }
    #expect(taken < .milliseconds(50))
  }

  @Test("a response with endless names of fields, or in UTF-16, is rejected before it is decoded")
  func names() throws {
    let database = try FirestoreDatabase(project: "p")
    let invalid = FirestoreError.invalidResponse("it is not a list of documents")
    let long = Data(#"{"x":{"\#(String(repeating: "x", count: 3_073))":1}}"#.utf8)
    #expect(throws: invalid) { try FirestoreResponse.page(long, in: database) }
    #expect(throws: invalid) { try FirestoreResponse.page(Data("{\u{0}}\u{0}".utf8), in: database) }
    #expect(FirestoreResponse.longestName(in: Data(#"{"a\"b:":"longer:text","c":[1]}"#.utf8)) == 6)
  }
}
