import Firestore
import FoundationEssentials
import Media
import Signalling
import TestSupport
import Testing

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
    let fields: [String: FirestoreValue] = [
      "sdp": .string(UntrustedText("v=0\r\n" + Self.marks)), "type": .string("offer"),
    ]
    let taken = ProcessorTime.least(within: .milliseconds(50)) {
      #expect(throws: StoredDescription.ParseError.notASCII(document: "a/b")) {
        try StoredDescription(parsing: Self.document(fields))
      }
      #expect(throws: StoredDescription.ParseError.unknownType(Self.marks, document: "a/b")) {
        try StoredDescription(
          parsing: Self.document(["sdp": .string("v=0"), "type": .string(UntrustedText(Self.marks))]))
      }
      let short = "candidate:1 1 udp 1 x 1 typ host ufrag e" + String(repeating: "\u{0301}", count: 40)
      #expect(throws: StoredCandidate.ParseError.notASCII(document: "a/b")) {
        try StoredCandidate(parsing: Self.document(["sdp": .string(UntrustedText(short))]))
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
    let marks = Data(#"{"x":{"\#(String(repeating: "\u{0301}", count: 40))":1}}"#.utf8)
    #expect(throws: invalid) { try FirestoreResponse.page(marks, in: database) }
  }

  @Test("documents with combining marks in any field cost no more than those of ASCII")
  func fields() throws {
    let database = try FirestoreDatabase(project: "p")
    let plain = String(repeating: "a", count: Self.marks.utf8.count)
    let prefix = "projects/p/databases/(default)/documents/rooms/"
    for value in [#"{"stringValue":"%"}"#, #"{"integerValue":"%"}"#, #"{"%":1}"#] {
      let document =
        #"{"name":"\#(prefix)x","updateTime":"2026-01-01T00:00:00Z","fields":{"name":\#(value),"type":\#(value),"sdp":\#(value)}}"#
      let parts = document.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
      let ratio = ProcessorTime.ratio(of: Self.marks, to: plain) { text in
        let json = parts.dropFirst().reduce(parts[0]) { $0 + text + $1 }
        guard let read = try? FirestoreResponse.document(Data(json.utf8), in: database) else { return }
        _ = (read.fields["name"]?.text == "100", read == read)
        _ = try? StoredDescription(parsing: read)
        _ = try? StoredCandidate(parsing: read)
      }
      #expect(ratio < 10, "Marks in \(value) cost \(ratio) times as much as ASCII.")
    }
    let ids = ["a\u{30A}", "\u{E5}"].compactMap { try? FirestoreID($0) }
    #expect(Set(ids).count == 2)
  }
}
