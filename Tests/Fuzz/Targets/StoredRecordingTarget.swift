import JobProtocol
import ObjectStore

/// What a service reads of the folder of a job process that has ended, and makes of it.
enum StoredRecordingTarget {
  /// A byte (modulo 3: 0 the name of a file, 1 manifests, one a line, of three attempts by turns, 2 a template of paths), then the text.
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch first % 3 {
    case 0: try name(String(decoding: bytes, as: UTF8.self))
    case 1: try manifests(bytes)
    default: try template(String(decoding: bytes, as: UTF8.self))
    }
  }

  private static func name(_ text: String) throws(InvariantViolation) {
    let part = KeyText.part(text)
    try require((1...200).contains(part.utf8.count), "A part of a key is empty or too long.")
    try require(ObjectKey("a/\(part)/b") != nil, "A part of a key leads out of its prefix.")
    if text.utf8.contains(UInt8(ascii: "/")) { try require(!part.utf8.contains(UInt8(ascii: "/")), "A part is two.") }
  }

  private static func manifests(_ bytes: [UInt8]) throws(InvariantViolation) {
    let start: Int64 = 1_772_357_400_000
    var attempts = (1...3).map { number in
      RecordedAttempt(
        number: Int64(number), id: "\(number)", version: "1", start: start + Int64(number) * 60_000,
        end: start + Int64(number) * 60_000 + 50_000, how: nil, endedInOrder: number == 3)
    }
    attempts[1].pauses = [RecordedAttempt.PauseStep(time: start + 130_000, state: PauseState(all: true))]
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
      guard let manifest = RecordedManifest(parsing: Array(line)) else { continue }
      attempts[index % 3].manifests.append(manifest)
      attempts[index % 3].participants.append(
        RecordedAttempt.Participant(id: manifest.user, joined: manifest.start, left: nil))
    }
    var document = RecordingDocument(job: "j", kind: "record", project: "p", room: "r", labels: [:])
    document.describe(attempts)
    guard let json = try? document.json else { throw InvariantViolation("A description cannot be written.") }
    try require(RecordingDocument(parsing: json) == document, "A description does not round-trip.")
    for user in document.users {
      try require(user.gaps.allSatisfy { $0.duration > 0 }, "A gap has no duration.")
      try require(user.overlaps.allSatisfy { $0.duration > 0 && $0.attempts.count == 2 }, "An overlap is none.")
    }
  }

  private static func template(_ text: String) throws(InvariantViolation) {
    guard let template = try? ObjectPathTemplate(text) else { return }
    let path = template.path(
      ObjectPathTemplate.Values(createdAt: 0, job: "j0b", kind: "record", project: "../p", room: "/r\u{0}"))
    try require(path.map { $0.text.contains("j0b") } ?? true, "A path does not have the job.")
  }
}
