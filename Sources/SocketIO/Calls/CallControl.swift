package import Media
package import Signalling

/// All calls of one user: who is called, who has called, and when a call ends. Outlives the connection to the server.
/// Pure.
///
/// In a call either side may offer again, for example to restart ICE, and offers of both may clash: the peer decides which
/// one counts.
///
/// ```
///                  call_request        call_response true
///   not called ──────────────────► requested ──────────────► in a call ──► disconnectpeer, or `hangUp`
///       ▲                             │ false, disconnectpeer,  ▲
///       └──── after `retryDelay` ─────┘ 30 s of silence         │ call_request of the other, answered with true
///             once, then given up                               │
/// ```
package struct CallControl: Sendable {
  package struct Configuration: Sendable {
    /// The users to call, in this order.
    package var calls: [ParticipantID] = []
    /// The maximum number of calls at a time, both outgoing and incoming. Further users are told that we are busy.
    package var maximumCalls = 256
    /// How long a called user may take to answer, and a caller to send the offer.
    package var responseTimeout: Duration = .seconds(30)
    /// The wait before a user who refused is called again.
    package var retryDelay: Duration = .seconds(3)
    /// How many times each user is called until they accept.
    package var maximumAttempts = 2

    package init() {}
  }

  /// What follows from an input, to be carried out in order.
  package enum Action: Sendable, Hashable {
    case send(OutgoingCallMessage)
    case deliver(SignallingEvent)
    /// A message had no effect.
    case ignored(CallAnomaly)
    /// A call ended or was not made; a sentence for the log.
    case note(String)
  }

  enum Call: Sendable {
    /// We called. `isCrossed`: the other has called us too meanwhile.
    case requested(until: MonotonicInstant, isCrossed: Bool)
    /// We accepted, and the offer is to come.
    case accepted(until: MonotonicInstant)
    case established
  }

  struct Plan: Sendable {
    var attempts = 0
    var next: MonotonicInstant?
    var wasAccepted = false
    var reason = ""
  }

  package let user: ParticipantID
  package let configuration: Configuration
  package private(set) var isLoggedIn = false
  /// The number of messages of users with whom there was no call.
  package internal(set) var droppedCount = 0
  var calls: [ParticipantID: Call] = [:]
  var plans: [ParticipantID: Plan] = [:]
  /// What the peer sent to users while the server was lost: the newest description and the candidates after it, and an answer
  /// before an offer.
  private var waitingMessages: [ParticipantID: [SignallingMessage]] = [:]
  private var isClosed = false

  /// The maximum number of messages that wait for one user.
  package static let maximumWaitingMessages = 64

  package init(user: ParticipantID, configuration: Configuration) {
    self.user = user
    self.configuration = configuration
    for other in configuration.calls where other != user { plans[other] = Plan() }
  }

  /// The users with whom there is a call, or who are being called.
  package var participants: Set<ParticipantID> { Set(calls.keys) }

  // MARK: The connection

  /// The server accepted the login, for the first time or again. Calls in progress continue.
  package mutating func loggedIn(now: MonotonicInstant) -> [Action] {
    isLoggedIn = true
    // What was said while the server was lost is not known: the times begin again.
    for (other, call) in calls {
      switch call {
      case .requested:
        calls[other] = nil
        plans[other]?.attempts -= 1
        plans[other]?.next = now
      case .accepted: calls[other] = .accepted(until: now + configuration.responseTimeout)
      case .established: break
      }
    }
    return [.deliver(.joined(id: user, others: []))] + sendWaiting() + callNext(now: now)
  }

  /// Sends what waited, in calls that continue: an ICE restart that the other side has not seen.
  private mutating func sendWaiting() -> [Action] {
    let waiting = waitingMessages.sorted { $0.key < $1.key }
    waitingMessages = [:]
    return waiting.flatMap { other, messages in messages.flatMap { send($0, to: other) } }
  }

  package mutating func connectionLost() {
    isLoggedIn = false
  }

  /// Ends all calls, for the end of the client.
  package mutating func leave() -> [Action] {
    defer {
      calls = [:]
      plans = [:]
      waitingMessages = [:]
      isClosed = true
    }
    return isLoggedIn ? calls.keys.sorted().map { .send(.hangUp(to: $0.text)) } : []
  }

  // MARK: The owner

  /// Sends a message of the peer connection to a user, at once or after the next login. Only within a call.
  package mutating func send(_ message: SignallingMessage, to other: ParticipantID) -> [Action] {
    switch calls[other] {
    case .accepted, .established: break
    case .requested, nil:
      return [.note("A message to \(other.text.printable(utf8Bytes: 64)) is discarded: there is no call with them.")]
    }
    guard isLoggedIn else { return wait(with: message, to: other) }
    switch message {
    case .offer(let sdp): return [.send(.offer(to: other.text, sdp: sdp))]
    case .answer(let sdp): return [.send(.answer(to: other.text, sdp: sdp))]
    // Clients of this protocol cannot read the end of candidates.
    case .candidate(let candidate) where candidate.candidate.isEmpty: return []
    case .candidate(let candidate): return [.send(.candidate(to: other.text, candidate))]
    }
  }

  private mutating func wait(with message: SignallingMessage, to other: ParticipantID) -> [Action] {
    let waiting = waitingMessages[other, default: []]
    // A description has all candidates that are known, and replaces an earlier one; but the other side still awaits an answer.
    let earlier =
      switch message {
      case .candidate: waiting
      case .offer: waiting.last { if case .answer = $0 { true } else { false } }.map { [$0] } ?? []
      case .answer: [SignallingMessage]()
      }
    guard earlier.count < Self.maximumWaitingMessages else {
      return [.note("A message to \(other.text.printable(utf8Bytes: 64)) is discarded: the server is lost.")]
    }
    waitingMessages[other] = earlier + [message]
    return []
  }

  /// Ends the call with a user.
  package mutating func hangUp(_ other: ParticipantID, now: MonotonicInstant) -> [Action] {
    guard calls.removeValue(forKey: other) != nil else { return [] }
    waitingMessages[other] = nil
    plans[other]?.next = nil
    plans[other]?.reason = "was called, but we hung up"
    return (isLoggedIn ? [.send(.hangUp(to: other.text))] : []) + callNext(now: now)
  }

  // MARK: Time

  /// When `poll` has something to do; nil if never.
  package var deadline: MonotonicInstant? {
    guard isLoggedIn else { return nil }
    let waiting = calls.values.compactMap { call -> MonotonicInstant? in
      switch call {
      case .requested(let end, _), .accepted(let end): end
      case .established: nil
      }
    }
    return (waiting + plans.values.compactMap(\.next)).min()
  }

  /// Ends calls that were not answered, and makes those that are due.
  package mutating func poll(now: MonotonicInstant) -> [Action] {
    guard isLoggedIn else { return [] }
    var actions: [Action] = []
    for (other, call) in calls {
      switch call {
      case .requested(let end, _) where end <= now:
        calls[other] = nil
        actions.append(.send(.hangUp(to: other.text)))
        actions += refused(other, "did not answer within \(configuration.responseTimeout)", now: now)
      case .accepted(let end) where end <= now:
        calls[other] = nil
        actions += [
          .send(.hangUp(to: other.text)), .deliver(.participantLeft(other, isRejoinVerified: false)),
          .note("\(other.text.printable(utf8Bytes: 64)) sent no offer within \(configuration.responseTimeout)."),
        ]
      default: break
      }
    }
    return actions + callNext(now: now)
  }

  // MARK: Outgoing calls

  /// Calls the users who are still to be called, as far as the number of calls allows.
  mutating func callNext(now: MonotonicInstant) -> [Action] {
    guard isLoggedIn, !isClosed else { return [] }
    var actions: [Action] = []
    for other in configuration.calls {
      guard calls.count < configuration.maximumCalls else { break }
      guard let plan = plans[other], calls[other] == nil else { continue }
      guard plan.attempts == 0 || plan.next.map({ $0 <= now }) ?? false else { continue }
      plans[other]?.attempts += 1
      plans[other]?.next = nil
      calls[other] = .requested(until: now + configuration.responseTimeout, isCrossed: false)
      actions.append(.send(.callRequest(to: other.text)))
    }
    if actions.isEmpty, let reason = reasonOfEnd {
      isClosed = true
      actions.append(.deliver(.closed(reason: reason)))
    }
    return actions
  }

  /// A user did not accept our call: they are called again, or given up.
  mutating func refused(_ other: ParticipantID, _ reason: String, now: MonotonicInstant) -> [Action] {
    guard var plan = plans[other] else { return [] }
    plan.reason = reason
    let name = other.text.printable(utf8Bytes: 64)
    defer { plans[other] = plan }
    if plan.attempts < configuration.maximumAttempts {
      plan.next = now + configuration.retryDelay
      return [.note("The user \(name) \(reason) and is called again after \(configuration.retryDelay).")]
    }
    plan.next = nil
    return [.note("The user \(name) \(reason) and is not called again.")]
  }

  /// Why nothing is to come any more: we were to call users, and all refused. Nil while there is a call.
  private var reasonOfEnd: String? {
    guard !plans.isEmpty, calls.isEmpty else { return nil }
    for plan in plans.values where plan.wasAccepted || plan.next != nil || plan.attempts == 0 { return nil }
    let reasons = configuration.calls.compactMap { other in
      plans[other].map { "the user \(other.text.printable(utf8Bytes: 64)) \($0.reason)" }
    }
    let list = reasons.prefix(3).joined(separator: ", ")
    let shown = list.prefix(1).uppercased() + list.dropFirst()
    return reasons.count > 3 ? "\(shown), and \(reasons.count - 3) more did not accept." : "\(shown)."
  }
}
