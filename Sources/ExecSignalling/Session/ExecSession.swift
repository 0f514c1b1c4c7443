package import Media
package import Signalling

/// Our side of the protocol with a program that connects a signalling system: bytes of its standard output and calls in,
/// requests, events and a deadline out. Pure.
///
/// ```
///         started            hello             joined
///   new ──────────► greeting ──────► joining ─────────► joined
///                       └───────────────┴──────────────────┤ leave, an ending
///                                                          ▼
///                                                         over
/// ```
/// ``started(now:)`` begins again from every state, for the next start of the program.
package struct ExecSession: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// The program's name for sentences.
    package var program: String
    package var hello = ExecHello()
    /// The timeouts for the program's `hello`, and for `joined` or `rejected` after it.
    package var helloTimeout: Duration = .seconds(10)
    package var joinTimeout: Duration = .seconds(10)
    /// The number of lines that may be no messages; after the next one the program counts as broken.
    package var maximumInvalidLines = 50
    /// The number of lines in a second, on average, and at once after a pause; a program that writes more counts as broken.
    package var linesPerSecond = 1_000
    package var lineBurst = 20_000

    package init(program: String) {
      self.program = program
    }
  }

  private enum Phase: Sendable, Hashable {
    case new
    case greeting(until: MonotonicInstant)
    case joining(until: MonotonicInstant)
    case joined
    case over
  }

  /// What is known of a participant.
  private struct Participant: Sendable {
    /// Whether one side has answered the other's offer.
    var isAnswered = false
  }

  private let configuration: Configuration
  private var phase = Phase.new
  private var reader: LineReader
  private var invalidLines = 0
  private var rate: TokenBucket
  private var participants: [ParticipantID: Participant] = [:]
  /// Our id, also while the program starts again.
  private var ownID: ParticipantID?
  /// What the system can do, as far as the program has said.
  package private(set) var capabilities = ExecCapabilities.defaults

  package init(configuration: Configuration) {
    self.configuration = configuration
    reader = LineReader(maximumBytes: ExecMessage.maximumBytes)
    rate = TokenBucket(perSecond: configuration.linesPerSecond, burst: configuration.lineBurst)
  }

  package var isJoined: Bool { phase == .joined }
  /// The ids of the participants who are there.
  package var present: Set<ParticipantID> { Set(participants.keys) }

  /// The next time at which ``poll(now:)`` has something to do.
  package var deadline: MonotonicInstant? {
    switch phase {
    case .greeting(let deadline), .joining(let deadline): deadline
    case .new, .joined, .over: nil
    }
  }

  // MARK: The program

  /// The program was started.
  package mutating func started(now: MonotonicInstant) -> ExecOutput {
    reader = LineReader(maximumBytes: ExecMessage.maximumBytes)
    invalidLines = 0
    rate = TokenBucket(perSecond: configuration.linesPerSecond, burst: configuration.lineBurst)
    phase = .greeting(until: now + configuration.helloTimeout)
    var output = ExecOutput()
    output.requests = [.hello(configuration.hello)]
    return output
  }

  /// The program has ended, or is of no use.
  package mutating func stopped() { phase = .over }

  /// Reads bytes of the program's standard output.
  package mutating func received(_ bytes: [UInt8], now: MonotonicInstant) -> ExecOutput {
    var output = ExecOutput()
    guard phase != .new, phase != .over else { return output }
    for line in reader.lines(in: bytes) where phase != .over { received(line: line, now: now, &output) }
    if reader.isOverflown, phase != .over {
      end(.lost(reason: "\(program) wrote a line of more than \(reader.maximumBytes) bytes."), &output)
    }
    return output
  }

  /// Does what is due.
  package mutating func poll(now: MonotonicInstant) -> ExecOutput {
    var output = ExecOutput()
    switch phase {
    case .greeting(let deadline) where deadline <= now:
      end(.lost(reason: "\(program) did not say hello within \(configuration.helloTimeout)."), &output)
    case .joining(let deadline) where deadline <= now:
      end(.lost(reason: "\(program) did not join within \(configuration.joinTimeout)."), &output)
    case .new, .greeting, .joining, .joined, .over: break
    }
    return output
  }

  // MARK: Calls of the owner

  /// Sends a message to a participant. It is discarded if we have not joined or the participant is not there, and so is what the
  /// system cannot carry: an offer during a call, or a candidate.
  package mutating func send(_ message: SignallingMessage, to id: ParticipantID) -> ExecOutput {
    var output = ExecOutput()
    guard phase == .joined, let participant = participants[id] else {
      output.note("A message to \(id.text.printable()) is discarded, because they are not there.")
      return output
    }
    switch message {
    case .offer where participant.isAnswered && !capabilities.restartsICE:
      output.note("An offer to \(id.text.printable()) is discarded, because \(program) accepts none during a call.")
      return output
    case .candidate where !capabilities.tricklesCandidates:
      output.note("A candidate is discarded, because \(program) carries none after the description.")
      return output
    case .answer: participants[id]?.isAnswered = true
    case .offer, .candidate: break
    }
    output.requests = [.message(message, to: id)]
    return output
  }

  /// The connection to a participant has ended.
  package mutating func hangUp(_ id: ParticipantID) -> ExecOutput {
    var output = ExecOutput()
    guard phase == .joined, participants[id] != nil else { return output }
    participants[id] = Participant()
    output.requests = [.hangUp(id)]
    return output
  }

  /// Leaves. The program says so to its server, and ends.
  package mutating func leave() -> ExecOutput {
    var output = ExecOutput()
    switch phase {
    case .greeting, .joining, .joined: output.requests = [.leave]
    case .new, .over: break
    }
    phase = .over
    return output
  }

  // MARK: Messages of the program

  var program: String { configuration.program.printable(utf8Bytes: 60) }

  private mutating func end(_ ending: ExecOutput.Ending, _ output: inout ExecOutput) {
    phase = .over
    output.ending = ending
  }

  private mutating func received(line: [UInt8], now: MonotonicInstant, _ output: inout ExecOutput) {
    guard rate.consume(now: now) else {
      return end(
        .lost(reason: "\(program) wrote more than \(configuration.linesPerSecond) lines a second."), &output)
    }
    do throws(ExecMessage.ParseError) {
      try received(ExecMessage(parsing: line), now: now, &output)
    } catch {
      output.warn("A line of \(program) is ignored: \(error)")
      invalidLines += 1
      guard invalidLines > configuration.maximumInvalidLines else { return }
      end(.lost(reason: "\(program) wrote \(invalidLines) lines that are no messages."), &output)
    }
  }

  private mutating func received(_ message: ExecMessage, now: MonotonicInstant, _ output: inout ExecOutput) {
    switch (message, phase) {
    case (.other(let type), _):
      output.note("A message of \(program) is ignored: its type \(type) is not known.")
    case (.rejected(let reason), _):
      let what = isJoined ? "what we do" : "the join"
      end(.rejected(reason: "\(program) rejects \(what)\(Self.tail(reason))"), &output)
    case (.ended(let reason), _):
      end(.ended(reason: "\(program) has ended the call\(Self.tail(reason))"), &output)
    case (.hello(let version, let capabilities), .greeting):
      guard version == ExecRequest.version else {
        let sentence = "\(program) speaks version \(version) of the protocol instead of \(ExecRequest.version)."
        return end(.rejected(reason: sentence), &output)
      }
      self.capabilities = capabilities
      phase = .joining(until: now + configuration.joinTimeout)
      output.requests.append(.join(formerID: ownID))
    case (_, .greeting):
      output.warn("A message of \(program) is ignored: it came before hello.")
    case (.hello, _):
      output.warn("A message of \(program) is ignored: it is a second hello.")
    case (.iceServers(let assigned), _):
      if let problem = assigned.problem { output.warn(problem) }
      if !assigned.servers.isEmpty { output.events.append(.iceServers(assigned.servers)) }
    case (.joined(let id, let listed), _):
      joined(as: id, listed, &output)
    case (_, .joined):
      received(message, &output)
    case (.participantJoined, _), (.participantLeft, _), (.message, _):
      output.warn("A message of \(program) is ignored: it came before joined.")
    }
  }

  /// A program that connected to its server again says so a second time.
  private mutating func joined(
    as id: ParticipantID, _ listed: [SignalledParticipant], _ output: inout ExecOutput
  ) {
    phase = .joined
    ownID = id
    let known = participants
    participants = [:]
    var others: [SignalledParticipant] = []
    for other in listed where other.id != id && participants[other.id] == nil {
      guard others.count < configuration.hello.maximumParticipants else { continue }
      participants[other.id] = known[other.id] ?? Participant()
      others.append(other)
    }
    if listed.count - others.count > 0 {
      output.note("Of \(listed.count) participants, \(others.count) are used.")
    }
    output.events.append(.joined(id: id, others: others))
  }

  /// Handles a message about a participant after we have joined.
  private mutating func received(_ message: ExecMessage, _ output: inout ExecOutput) {
    switch message {
    case .participantJoined(let participant):
      guard participant.id != ownID, participants[participant.id] == nil else {
        return output.note("A participant is ignored: \(participant.id.text.printable()) is already there.")
      }
      guard participants.count < configuration.hello.maximumParticipants else {
        return output.note(
          "A participant is ignored: more than \(configuration.hello.maximumParticipants) others are there.")
      }
      participants[participant.id] = Participant()
      output.events.append(.participantJoined(participant))
    case .participantLeft(let id, let isRejoinVerified):
      guard participants.removeValue(forKey: id) != nil else {
        return output.note("A message is ignored: \(id.text.printable()) is not there.")
      }
      output.events.append(.participantLeft(id, isRejoinVerified: isRejoinVerified))
    case .message(let message, let id):
      guard participants[id] != nil else {
        return output.note("A message is ignored: \(id.text.printable()) is not there.")
      }
      if case .answer = message { participants[id]?.isAnswered = true }
      output.events.append(.message(message, from: id))
    case .hello, .joined, .iceServers, .rejected, .ended, .other: break
    }
  }

  private static func tail(_ reason: String) -> String { reason.isEmpty ? "." : ": \(reason)" }
}
