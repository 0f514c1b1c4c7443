import FoundationEssentials
import Media
import Signalling

@testable import Janus

/// The messages of a Janus server, and the session that follows from them.
///
/// An input is a byte of choices (bit 0: we publish, bit 1: the room's id is a text), then lines. Each line is a
/// message of the server, `+N` for N seconds without one, or `-` for a lost connection and a new one.
enum JanusTarget {
  private static let secret = "Secret-b7c1e9"
  private static let maximumParticipants = 4

  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    var configuration = JanusSession.Configuration(room: choices & 2 == 0 ? .number(1234) : .text("room"))
    configuration.publishes = choices & 1 != 0
    configuration.maximumParticipants = maximumParticipants
    (configuration.pin, configuration.roomToken) = (secret, secret)
    (configuration.apiSecret, configuration.token) = (secret, secret)
    let rest = cursor.remainder()
    let isSecretKnown = String(decoding: rest, as: UTF8.self).contains(secret)
    var call = Call(JanusSession(configuration: configuration), secret: isSecretKnown ? nil : secret)
    try call.take(call.session.opened(now: call.now))
    for bytes in rest.split(separator: UInt8(ascii: "\n")) {
      let line = String(decoding: bytes, as: UTF8.self)
      if line == "-" {
        try call.reopen()
      } else if line.hasPrefix("+"), let seconds = UInt16(line.dropFirst()) {
        call.now += .seconds(Int(seconds))
      } else if let message = try parse(line) {
        try call.take(call.session.received(message, now: call.now))
      }
      try call.take(call.session.poll(now: call.now))
      try require(call.session.subscriptions.count <= maximumParticipants, "More feeds are kept than allowed.")
      try require(call.session.handles.count <= maximumParticipants, "More handles are kept than feeds.")
    }
    try call.take(call.session.leave(now: call.now))
  }

  private static func parse(_ line: String) throws(InvariantViolation) -> JanusMessage? {
    let message: JanusMessage
    do throws(JanusMessage.ParseError) { message = try JanusMessage(parsing: line) } catch {
      try sentence(error.description)
      return nil
    }
    switch message {
    case .trickle(let candidate, _):
      try require(again(candidate) == candidate, "A candidate does not round-trip.")
    case .plugin(let event, _, _, let description):
      if let description { try require(again(description) == description, "A description does not round-trip.") }
      if case .joined(let id, _, _) = event { try require(again(id) == id, "An id does not round-trip.") }
      if case .failed(let error) = event { try sentence(error.description) }
    case .error(let error, _): try sentence(error.description)
    case .ack, .success, .connected, .hangup, .media, .slowLink, .detached, .timeout, .other: break
    }
    return message
  }

  /// Writes a value and reads it again.
  private static func again<Value: Codable>(_ value: Value) -> Value? {
    guard let data = try? JSONEncoder().encode(value) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: data)
  }

  /// The session with an owner that offers and answers at once, and reconnects when it should.
  private struct Call {
    var session: JanusSession
    var now = MonotonicInstant.now
    private var ledger = SignallingLedger()
    private var transactions: Set<String> = []
    private let secret: String?

    init(_ session: JanusSession, secret: String?) {
      self.session = session
      self.secret = secret
    }

    mutating func take(_ output: JanusOutput) throws(InvariantViolation) {
      var outputs = [output]
      while let output = outputs.popLast() {
        for request in output.requests { try check(request) }
        for problem in output.problems { try sentence(problem.sentence, without: secret) }
        for event in output.events where !ledger.isClosed {
          try ledger.note(event)
          outputs += react(to: event)
        }
        switch output.ending {
        case .left?, nil: break
        case .lost(let reason)?, .unresponsive(let reason)?, .closed(let reason)?:
          try sentence(reason, without: secret)
          try reopen()
        case .permanent(let error)?:
          try sentence(error.description, without: secret)
          try reopen()
        }
      }
    }

    mutating func reopen() throws(InvariantViolation) {
      session.connectionLost()
      // The session says what it sends; an owner that has no connection any more would not go on.
      for request in session.opened(now: now).requests { try check(request) }
    }

    private mutating func check(_ request: JanusRequest) throws(InvariantViolation) {
      try require(transactions.insert(request.transaction).inserted, "A transaction is used twice.")
      try require(request.text.utf8.count > 2, "A request cannot be written.")
      try sentence(request.description, without: secret)
    }

    private mutating func react(to event: SignallingEvent) -> [JanusOutput] {
      switch event {
      case .joined(_, let others): others.map { offer(to: $0) }
      case .participantJoined(let participant): [offer(to: participant)]
      case .message(.offer, let id): [session.send(.answer("v=0"), to: id, now: now)]
      default: []
      }
    }

    private mutating func offer(to participant: SignalledParticipant) -> JanusOutput {
      guard participant.offerer == .local else { return JanusOutput() }
      return session.send(.offer("v=0"), to: participant.id, now: now)
    }
  }
}
