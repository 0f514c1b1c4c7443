import Firestore
import FoundationEssentials
import Media
import Signalling

/// Responses and documents of a Firestore database, and the calls that follow from them.
///
/// An input is a byte of choices (the value modulo 4: host or guest of a room, caller or callee), then lines. Each line
/// is the body of a response, whose documents are stored; `-NAME`, which deletes a document; `+N` for N tenths of a
/// second that pass; or another text, which is read as an address.
enum FirestoreTarget {
  private static let database = try? FirestoreDatabase(project: "p")

  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let database else { throw InvariantViolation("There is no database.") }
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    let lines = cursor.remainder().split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    switch choices % 4 {
    case 0: try run(lines, StoredCall(RoomSignalling(room: "1", role: .host)), in: database)
    case 1: try run(lines, StoredCall(RoomSignalling(room: "1", role: .guest)), in: database)
    case 2: try run(lines, StoredCall(PersonSignalling(me: "tom", peer: "jerry", role: .caller)), in: database)
    default: try run(lines, StoredCall(PersonSignalling(me: "tom", peer: "jerry", role: .callee)), in: database)
    }
  }

  private static func run(
    _ lines: [String], _ call: StoredCall<some SignallingLayout>, in database: FirestoreDatabase
  ) throws(InvariantViolation) {
    var call = call
    try call.start()
    for line in lines {
      if line.hasPrefix("-") {
        database.path(ofName: String(line.dropFirst())).map { call.documents[$0] = nil }
      } else if line.hasPrefix("+"), let tenths = UInt16(line.dropFirst()) {
        call.now += .milliseconds(100 * Int(tenths))
      } else if line.hasPrefix("{") {
        for document in try documents(in: Data(line.utf8), of: database) where call.documents.count < 1_024 {
          try check(document, of: database)
          call.documents[document.path] = document
        }
      } else {
        try address(line)
      }
      try call.poll()
    }
  }

  // MARK: Responses

  private static func documents(
    in body: Data, of database: FirestoreDatabase
  ) throws(InvariantViolation) -> [FirestoreDocument] {
    for status: UInt in [400, 401, 404, 503] {
      let error = FirestoreResponse.error(status: status, body: body, retryAfter: nil, about: "The database")
      try sentence(error?.description ?? "")
    }
    let now = MonotonicInstant.now
    if let token = AccessToken(parsing: body, now: now) {
      try require(
        token.expires > now && token.expires <= now + .seconds(86_400), "A token lasts too long or not at all.")
    }
    if let time = try read({ () throws(FirestoreError) in try FirestoreResponse.commitTime(body) }) {
      try require((0...999_999_999).contains(time.nanoseconds), "A time has \(time.nanoseconds) nanoseconds.")
    }
    let page = try read { () throws(FirestoreError) in try FirestoreResponse.page(body, in: database) }
    if let token = page?.nextPageToken {
      let next = FirestoreRequest.list(CollectionPath("rooms"), pageSize: 1, pageToken: token, in: database)
      try require(isTarget(next.target), "The target of the next page is not valid.")
    }
    let document = try read { () throws(FirestoreError) in try FirestoreResponse.document(body, in: database) }
    return (page?.documents ?? []) + (document.map { [$0] } ?? [])
  }

  /// Reads a value, or requires a bounded sentence about what is wrong.
  private static func read<Value>(_ read: () throws(FirestoreError) -> Value) throws(InvariantViolation) -> Value? {
    let error: FirestoreError
    do throws(FirestoreError) { return try read() } catch let reason { error = reason }
    try sentence(error.description)
    return nil
  }

  private static func check(_ document: FirestoreDocument, of database: FirestoreDatabase) throws(InvariantViolation) {
    try require(database.path(ofName: database.name(of: document.path)) == document.path, "A path does not round-trip.")
    let target = FirestoreRequest.get(document.path, in: database).target
    try require(isTarget(target), "A document's target is not valid.")
    let parts = target.split(separator: "/", omittingEmptySubsequences: false)
    try require(parts.count >= document.path.ids.count, "A document's target lacks ids.")
    // The same encoding is read in the address of a room.
    for (part, id) in zip(parts.suffix(document.path.ids.count), document.path.ids) {
      try require((try? FirestoreAddress("firestore://p/rooms/\(part)"))?.room == id.text, "An id does not round-trip.")
    }
    for value in document.fields.values where value != .other {
      let again = (try? JSONEncoder().encode(value)).flatMap {
        try? JSONDecoder().decode(FirestoreValue.self, from: $0)
      }
      try require(again == value, "A value does not round-trip.")
    }
    try description(of: document)
    try candidate(of: document)
  }

  private static func description(of document: FirestoreDocument) throws(InvariantViolation) {
    let description: StoredDescription
    do throws(StoredDescription.ParseError) { description = try StoredDescription(parsing: document) } catch {
      return try sentence(error.description)
    }
    let fields = StoredDescription.fields(description.kind, sdp: description.sdp)
    let copy = FirestoreDocument(path: document.path, fields: fields, updateTime: document.updateTime)
    try require((try? StoredDescription(parsing: copy)) == description, "A description does not round-trip.")
  }

  private static func candidate(of document: FirestoreDocument) throws(InvariantViolation) {
    let candidate: StoredCandidate
    do throws(StoredCandidate.ParseError) { candidate = try StoredCandidate(parsing: document) } catch {
      return try sentence(error.description)
    }
    let copy = FirestoreDocument(
      path: document.path, fields: StoredCandidate.fields(candidate.candidate), updateTime: document.updateTime)
    var again = try? StoredCandidate(parsing: copy)
    // A missing index is written as 0.
    if candidate.candidate.mLineIndex == nil { again?.candidate.mLineIndex = nil }
    try require(again == candidate, "A candidate does not round-trip.")
  }

  private static func isTarget(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
  }

  private static func address(_ text: String) throws(InvariantViolation) {
    do throws(FirestoreAddress.ParseError) {
      _ = try FirestoreAddress(text)
    } catch {
      try sentence(error.description)
    }
  }
}
