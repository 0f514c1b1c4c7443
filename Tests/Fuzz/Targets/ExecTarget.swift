import Media
import Processes
import Signalling

@testable import ExecSignalling

/// What a program writes to its standard output, and the session that follows from it.
///
/// An input is a byte of choices, then lines. The choices: the lowest three bits are how many bytes arrive at once (0: a line);
/// bit 3: the program's standard error has the same lines. Each line is a message of the program, `+N` for N seconds without
/// one, or `-` for the end of the program and its next start.
enum ExecTarget {
  private static let secret = "Secret-b7c1e9"
  private static let maximumParticipants = 4

  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    let rest = cursor.remainder()
    try command(rest)
    if choices & 8 != 0 { try diagnostics(rest) }
    var configuration = ExecSession.Configuration(program: "adapter\n")
    configuration.hello.token = secret
    configuration.hello.maximumParticipants = maximumParticipants
    let isSecretKnown = String(decoding: rest, as: UTF8.self).contains(secret)
    var call = Call(ExecSession(configuration: configuration), secret: isSecretKnown ? nil : secret)
    try call.start()
    for bytes in rest.split(separator: UInt8(ascii: "\n")) {
      let line = String(decoding: bytes, as: UTF8.self)
      if line == "-" {
        try call.start()
      } else if line.hasPrefix("+"), let seconds = UInt16(line.dropFirst()) {
        call.now += .seconds(Int(seconds))
      } else {
        try call.read(Array(bytes) + [UInt8(ascii: "\n")], at: Int(choices & 7))
      }
      try call.take(call.session.poll(now: call.now))
      try require(call.session.present.count <= maximumParticipants, "More participants are kept than allowed.")
    }
    try call.take(call.session.leave())
  }

  private static func command(_ bytes: [UInt8]) throws(InvariantViolation) {
    let command: ExecCommand
    do throws(ExecCommand.ParseError) {
      command = try ExecCommand(String(decoding: bytes.prefix(200), as: UTF8.self))
    } catch {
      return try sentence(error.description)
    }
    try require(command.words.first?.isEmpty == false, "A command has no program.")
  }

  private static func diagnostics(_ bytes: [UInt8]) throws(InvariantViolation) {
    var lines = DiagnosticLines()
    let now = MonotonicInstant.now
    for line in lines.lines(in: bytes, now: now) { try sentence(line.text) }
    if let line = lines.end(now: now) { try sentence(line.text) }
    try sentence(ChildExit.code(1).sentence(of: "adapter\n", lastLine: lines.last))
  }

  /// The session with an owner that offers and answers at once, and starts the program again when it should.
  private struct Call {
    var session: ExecSession
    var now = MonotonicInstant.now
    private var ledger = SignallingLedger()
    private let secret: String?

    init(_ session: ExecSession, secret: String?) {
      self.session = session
      self.secret = secret
    }

    mutating func start() throws(InvariantViolation) {
      session.stopped()
      try take(session.started(now: now))
    }

    mutating func read(_ line: [UInt8], at size: Int) throws(InvariantViolation) {
      guard size > 0 else { return try take(session.received(line, now: now)) }
      for start in stride(from: 0, to: line.count, by: size) {
        try take(session.received(Array(line[start..<min(start + size, line.count)]), now: now))
      }
    }

    mutating func take(_ output: ExecOutput) throws(InvariantViolation) {
      var outputs = [output]
      while let output = outputs.popLast() {
        for request in output.requests { try check(request) }
        for problem in output.problems { try sentence(problem.sentence, without: secret) }
        for event in output.events where !ledger.isClosed {
          try ledger.note(event)
          outputs += react(to: event)
        }
        switch output.ending {
        case .lost(let reason)?, .rejected(let reason)?, .ended(let reason)?:
          try sentence(reason, without: secret)
          session.stopped()
          for request in session.started(now: now).requests { try check(request) }
        case nil: break
        }
      }
    }

    private func check(_ request: ExecRequest) throws(InvariantViolation) {
      let line = request.line
      try require(line.utf8.count > 3 && line.utf8.last == UInt8(ascii: "\n"), "A request cannot be written.")
      try require(line.utf8.count { $0 == UInt8(ascii: "\n") } == 1, "A request has several lines.")
      try sentence(request.description, without: secret)
    }

    private mutating func react(to event: SignallingEvent) -> [ExecOutput] {
      switch event {
      case .joined(_, let others): others.map { offer(to: $0) }
      case .participantJoined(let participant): [offer(to: participant)]
      case .message(.offer, let id): [session.send(.answer("v=0\r\n"), to: id), session.hangUp(id)]
      default: []
      }
    }

    private mutating func offer(to participant: SignalledParticipant) -> ExecOutput {
      guard participant.offerer == .local else { return ExecOutput() }
      return session.send(.offer("v=0\r\n"), to: participant.id)
    }
  }
}
