import Foundation
import JSON
import JobProtocol

/// What a service reads of a job process, and a job process of a service.
enum JobTargets {
  /// A byte with the size of the pieces in which the journal is read (0: all at once), then the journal.
  static func journal(_ input: [UInt8]) throws(InvariantViolation) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let size = first == 0 ? max(1, bytes.count) : Int(first)
    let whole = entries(of: bytes, in: max(1, bytes.count))
    let pieces = entries(of: bytes, in: size)
    try require(whole.entries == pieces.entries && whole.error == pieces.error, "The pieces change what is read.")
    try require(whole.reader.position <= Int64(bytes.count), "The position is behind the end.")
    try require(
      whole.entries.map(\.seq) == Array((0..<whole.entries.count).map { Int64($0 + 1) }), "There is a hole in seq.")
    // An incomplete last line changes nothing.
    let complete = Array(bytes.prefix(Int(whole.reader.position)))
    try require(entries(of: complete, in: max(1, complete.count)).entries == whole.entries, "The position is wrong.")
    for entry in whole.entries {
      guard let line = try? entry.line else { throw InvariantViolation("An entry cannot be written.") }
      if case .other = entry.event { continue }
      var reader = JournalReader(position: 0, lastSeq: entry.seq - 1)
      // What is written can be longer than what was read, because characters are escaped.
      guard line.count <= JournalEntry.maximumBytes else { continue }
      try require((try? reader.read(line + [UInt8(ascii: "\n")])) == [entry], "An entry does not round-trip.")
    }
  }

  private static func entries(
    of bytes: [UInt8], in size: Int
  ) -> (entries: [JournalEntry], reader: JournalReader, error: JournalReader.BrokenLine?) {
    var reader = JournalReader()
    var entries: [JournalEntry] = []
    var start = 0
    // One line at a time, because an error leaves out the entries before it.
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
      while start < end {
        let next = min(end, start + size)
        do {
          entries += try reader.read(bytes[start..<next])
        } catch {
          return (entries, reader, error)
        }
        start = next
      }
    }
    return (entries, reader, nil)
  }

  /// A byte (modulo 3: 0 requests, 1 answers, 2 both; above it the size of the pieces, 0: all at once), then the bytes of a connection.
  static func control(_ input: [UInt8]) throws(InvariantViolation) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let size = first / 3 == 0 ? max(1, bytes.count) : Int(first / 3)
    var reader = ControlLineReader()
    for start in stride(from: 0, to: bytes.count, by: size) {
      guard let lines = try? reader.read(bytes[start..<min(bytes.count, start + size)]) else { return }
      for line in lines {
        try require(line.count <= ControlLine.maximumBytes && !line.contains(10), "A line is none.")
        if first % 3 != 1 { try request(line) }
        if first % 3 != 0 { try answer(line) }
      }
    }
  }

  private static func request(_ line: Data) throws(InvariantViolation) {
    guard let request = try? ControlRequest(parsing: line) else { return }
    guard let written = try? request.line else { throw InvariantViolation("A request cannot be written.") }
    guard written.count <= ControlLine.maximumBytes else { return }
    try require((try? ControlRequest(parsing: written)) == request, "A request does not round-trip.")
    var state = PauseState.none
    switch request.command {
    case .pause(let users): state.pause(users)
    case .resume(let users): state.resume(users)
    default: return
    }
    try require(state.isPaused == (request.command == .pause(users: nil) || !state.users.isEmpty), "A pause is lost.")
  }

  private static func answer(_ line: Data) throws(InvariantViolation) {
    guard let answer = try? ControlAnswer(parsing: line), let written = try? answer.line,
      written.count <= ControlLine.maximumBytes
    else { return }
    try require((try? ControlAnswer(parsing: written)) == answer, "An answer does not round-trip.")
  }

  /// A byte (modulo 4: 0 a specification, 1 options of a kind, which the bits above it choose, 2 limits, 3 secrets), then the JSON.
  static func specification(_ input: [UInt8]) throws(InvariantViolation) {
    guard let first = input.first else { return }
    let bytes = Data(input.dropFirst())
    let limits = JSONLimits(bytes: 65_536, values: 10_000, depth: 8)
    switch first % 4 {
    case 0:
      guard let specification = try? JobSpecification(parsing: bytes) else { return }
      let problems = specification.validate()
      try check(problems)
      guard problems.isEmpty else { return }
      guard let arguments = try? specification.arguments(in: "folder") else {
        throw InvariantViolation("A valid specification has no arguments.")
      }
      try require(arguments.allSatisfy { !$0.utf8.contains(0) }, "An argument has a zero byte.")
      try require(arguments.dropFirst().allSatisfy { $0.hasPrefix("--") }, "An argument is no option.")
      guard let json = try? specification.json else { throw InvariantViolation("A specification cannot be written.") }
      try require((try? JobSpecification(parsing: json)) == specification, "A specification does not round-trip.")
    case 1:
      guard let value = try? JSONReader.decode(JSONValue.self, from: bytes, within: limits) else { return }
      let kind = JobKind.allCases[Int(first / 4) % JobKind.allCases.count]
      try check(JobOptions.validate(value, of: kind, at: "/options"))
    case 2:
      guard let value = try? JSONReader.decode(JSONValue.self, from: bytes, within: limits) else { return }
      let end: JobEnd
      do {
        end = try JobEnd(parsing: value, at: "/end")
      } catch {
        return try check([error])
      }
      for limit in [end.duration, end.emptyFor, end.nobodyWithin] {
        try require((limit ?? 1) > 0, "A limit is not positive.")
      }
    default:
      guard let secrets = try? JobSecrets(parsing: Array(bytes)) else { return }
      guard let json = try? secrets.json else { throw InvariantViolation("Secrets cannot be written.") }
      // What is written can be longer than what was read, because characters are escaped.
      guard json.count <= JobSecrets.maximumBytes else { return }
      try require((try? JobSecrets(parsing: json)) == secrets, "Secrets do not round-trip.")
    }
  }

  private static func check(_ problems: [JobProblem]) throws(InvariantViolation) {
    for problem in problems {
      try require(problem.pointer.hasPrefix("/") && problem.pointer.utf8.count <= 1_000, "A pointer is none.")
      try require((1...2_000).contains(problem.sentence.utf8.count), "A problem has no sentence.")
    }
  }
}
