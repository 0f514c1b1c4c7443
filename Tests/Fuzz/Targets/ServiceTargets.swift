import JSON
import JobProtocol
import SQLStore
import Service

/// What the service of jobs reads of callers and of its operator.
enum ServiceTargets {
  /// The text of a file of settings.
  static func configuration(_ input: [UInt8]) throws(InvariantViolation) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    let configuration: ServiceConfiguration
    do throws(ConfigurationError) {
      configuration = try ServiceConfiguration(yaml: text)
    } catch {
      try require(!error.problems.isEmpty, "An error has no problem.")
      let lines = error.problems.map(\.line)
      try require(lines == lines.sorted() && (lines.first ?? 0) >= 1, "A line is none.")
      try require(error.problems.allSatisfy { !$0.sentence.isEmpty }, "A problem has no sentence.")
      return
    }
    try require(configuration.limits.requests > 0, "A limit is not positive.")
    try require((1...10_000).contains(configuration.limits.cpu), "A percentage is none.")
  }

  /// A byte (modulo 5: 0 the body of a job, 1 a path, 2 a query, 3 a file of tokens, 4 a time, a position or a range of bytes; 5 in
  /// the bits above it: any server is allowed), then the bytes.
  static func request(_ input: [UInt8]) throws(InvariantViolation) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let text = String(decoding: bytes, as: UTF8.self)
    switch first % 5 {
    case 0: try body(bytes, anyServer: first / 5 % 2 == 1)
    case 1:
      guard let route = APIRoute(path: text, page: ["index.html"]) else { return }
      try require(!route.methods.isEmpty, "A route has no method.")
      if case .file(_, let name) = route { try require(!name.utf8.contains(0), "A name has a zero byte.") }
    case 2:
      guard let query = try? APIQuery(text, known: APIRoute.jobs.parameters, hasLabels: true) else { return }
      if let limit = try? query.limit() { try require((1...APIQuery.maximumLimit).contains(limit), "A limit is none.") }
      if let filter = try? query.filter() {
        try require(filter.labels.count <= JobRequest.maximumLabels, "There are too many labels.")
      }
      if let position = try? query.jobPosition() {
        try require(Cursor.jobPosition(Cursor.text(position)) == position, "A position does not round-trip.")
      }
    case 3:
      guard let list = try? AccessTokenList(text) else { return }
      let lines = list.tokens.map(\.line).joined(separator: "\n")
      try require((try? AccessTokenList(lines)) == list, "Tokens do not round-trip.")
    default:
      if let time = APITime.parse(text), time >= 0 {
        try require(APITime.parse(APITime.text(time)) == time, "A time does not round-trip.")
      }
      if let event = Cursor.event(text) {
        try require(Cursor.event(Cursor.text(event: event)) == event, "An event is lost.")
      }
      if let range = try? ByteRange.range(text, size: 1_000) {
        try require(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= 1_000, "A range is outside.")
      }
    }
  }

  private static func body(_ bytes: [UInt8], anyServer: Bool) throws(InvariantViolation) {
    guard let value = try? APIResponder.json(bytes) else { return }
    var configuration = ServiceConfiguration()
    configuration.allowsAnyServer = anyServer
    let request: JobRequest
    do throws(JobRequestError) {
      request = try JobRequest.parse(value, configuration: configuration).request
    } catch {
      try require(!error.problems.isEmpty, "An error has no problem.")
      for problem in error.problems {
        try require(problem.pointer.isEmpty || problem.pointer.hasPrefix("/"), "A pointer is none.")
        try require(!problem.sentence.isEmpty, "A problem has no sentence.")
      }
      return
    }
    guard let stored = try? request.stored else { throw InvariantViolation("A job cannot be written.") }
    try require((try? JobRequest(stored: stored)) == request, "A job does not round-trip.")
    let specification = try? request.specification(
      job: "a", attempt: 1, attemptID: "b", paused: request.initialPause, configuration: configuration)
    guard let specification else { throw InvariantViolation("A job has no specification.") }
    try require(specification.validate().isEmpty, "A job that was accepted cannot be run.")
  }
}
