import JSON
import Media
import Signalling
import SocketIO

/// The packets of a socket.io server: bodies of long polling, single packets, and the calls that follow from them.
///
/// An input is a byte of choices (bit 0: we call the users 2 and 3, bits 1 and 2: the revision of Engine.IO, 0 if it is
/// not known), then lines. Each line is a packet, `+N` for N seconds without one, or `-` for a lost connection and a
/// new one. The whole text after the byte is also read as a body of long polling.
enum SocketIOTarget {
  private static let maximumCalls = 4

  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    let rest = cursor.remainder()
    try body(String(decoding: rest, as: UTF8.self))
    let lines = rest.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    for line in lines { try packet(line) }
    try calls(lines, areOutgoing: choices & 1 != 0, generation: EngineIOGeneration(rawValue: Int(choices >> 1) & 7))
  }

  private static func body(_ text: String) throws(InvariantViolation) {
    guard let body = try read({ () throws(SocketIOParseError) in try EngineIOPayload.parse(text) }) else { return }
    let bytes = body.packets.reduce(0) { $0 + $1.utf8.count }
    try require(bytes <= 3 * text.utf8.count, "The packets have \(bytes) bytes, more than their body.")
    guard body.format == .lengths, body.packets.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return }
    let again = try? EngineIOPayload.parse(EngineIOPayload.encode(body.packets, as: body.format))
    try require(again?.packets == body.packets && again?.format == .lengths, "A body does not round-trip.")
  }

  private static func packet(_ text: String) throws(InvariantViolation) {
    guard let outer = try read({ () throws(SocketIOParseError) in try EngineIOPacket(parsing: text) }) else { return }
    try require(outer.encoded == text, "A packet of Engine.IO is not written back unchanged.")
    _ = try read { () throws(SocketIOParseError) in try EngineIOHandshake(parsing: outer.text) }
      .map { handshake throws(InvariantViolation) in
        let isInRange =
          EngineIOHandshake.intervals.contains(handshake.pingInterval)
          && EngineIOHandshake.intervals.contains(handshake.pingTimeout)
        try require(isInRange, "An interval of the handshake is out of range.")
      }
    guard
      let inner = try read({ () throws(SocketIOParseError) in try SocketIOPacket(parsing: outer.text) })
    else { return }
    // A number after the id of an acknowledgment is not written by anyone: it cannot be told from the id.
    if case .number = inner.data {
    } else {
      try require((try? SocketIOPacket(parsing: inner.encoded)) == inner, "A packet of Socket.IO does not round-trip.")
    }
    try require(
      inner.encoded.utf8.dropFirst(inner.namespace.utf8.count + 1).allSatisfy { $0 < 0x80 }, "It is not ASCII.")
    guard let event = try read({ () throws(SocketIOParseError) in try inner.event() }) else { return }
    guard
      let message = try read({ () throws(SocketIOParseError) in
        try IncomingCallMessage(parsing: event.name, arguments: event.arguments)
      })
    else { return }
    if case .candidate(_, let candidate) = message {
      try require(candidate.mLineIndex.map { (0...65_535).contains($0) } ?? true, "A line's index is out of range.")
      try require((candidate.mid?.utf8.count ?? 0) <= 256, "A mid has \(candidate.mid?.utf8.count ?? 0) bytes.")
    }
  }

  /// Reads a value, or requires a bounded sentence about what is wrong.
  private static func read<Value>(
    _ read: () throws(SocketIOParseError) -> Value
  ) throws(InvariantViolation) -> Value? {
    let error: SocketIOParseError
    do throws(SocketIOParseError) { return try read() } catch let reason { error = reason }
    try sentence(error.description)
    return nil
  }

  private static func calls(
    _ lines: [String], areOutgoing: Bool, generation: EngineIOGeneration?
  ) throws(InvariantViolation) {
    var configuration = CallControl.Configuration()
    configuration.maximumCalls = maximumCalls
    if areOutgoing { configuration.calls = ["2", "3"] }
    var signalling = CallSignalling(calls: CallControl(user: "1", configuration: configuration))
    var ledger = SignallingLedger()
    var now = MonotonicInstant.now
    signalling.opened(generation: generation, now: now)
    for line in lines where !ledger.isClosed {
      var actions: [CallSignalling.Action] = []
      if line == "-" {
        actions.append(.end(.lost("The connection was lost.")))
      } else if line.hasPrefix("+"), let seconds = UInt16(line.dropFirst()) {
        now += .seconds(Int(seconds))
      } else {
        actions += signalling.received(line, now: now)
      }
      actions += signalling.poll(now: now)
      try require(actions.count <= 32, "A packet leads to \(actions.count) actions.")
      for action in actions {
        if case .end = action {
          signalling.closed()
          signalling.opened(generation: generation, now: now)
        }
        try check(action, &ledger)
        // An owner that answers at once.
        guard case .deliver(let event) = action else { continue }
        for reply in react(to: event, &signalling) { try check(reply, &ledger) }
      }
      try require(signalling.calls.participants.count <= maximumCalls, "There are more calls than allowed.")
    }
    for action in signalling.leave() { try check(action, &ledger) }
    try require(signalling.calls.participants.isEmpty, "Calls are left over.")
  }

  private static func check(
    _ action: CallSignalling.Action, _ ledger: inout SignallingLedger
  ) throws(InvariantViolation) {
    switch action {
    case .send(let packet):
      try require((try? EngineIOPacket(parsing: packet))?.encoded == packet, "A packet of ours cannot be read.")
    case .deliver(let event): try ledger.note(event)
    case .ignored(let text), .note(let text), .end(.lost(let text)), .end(.loginRefused(let text)): try sentence(text)
    case .loggedIn: break
    }
  }

  private static func react(to event: SignallingEvent, _ signalling: inout CallSignalling) -> [CallSignalling.Action] {
    switch event {
    case .participantJoined(let other) where other.offerer == .local: signalling.send(.offer("v=0"), to: other.id)
    case .message(.offer, let other): signalling.send(.answer("v=0"), to: other)
    case .message(.candidate(let candidate), let other): signalling.send(.candidate(candidate), to: other)
    default: []
    }
  }
}
