import BotPeer
import Media
import Room
import Signalling
import TestSupport

/// Members of a room, each with a `RoomState`, a server that relays between them, and connections that consist of an offer and an
/// answer. Every delay is random, by a seed. Nothing is lost but what is on its way when a member loses the server.
struct ModelRoom {
  /// A connection, named by the number of the offer that it began with.
  enum Link: Hashable {
    /// We wait for the answer.
    case offered(Int)
    /// We have answered.
    case answered(Int)
    /// We have the answer; established soon, if the other side still has the connection.
    case agreed(Int)
    case connected(Int)

    var number: Int {
      switch self {
      case .offered(let number), .answered(let number), .agreed(let number), .connected(let number): number
      }
    }
  }

  struct Member {
    private static let capabilities = {
      var capabilities = SignallingCapabilities()
      capabilities.announcesLostParticipants = true
      return capabilities
    }()

    var state = RoomState(Member.capabilities)
    /// The id by which the server knows the member; nil while the connection to the server is lost.
    var id: ParticipantID?
    /// The id that the member knows itself by.
    var ownID: ParticipantID?
    /// Counts the connections to the server: what is on its way to an earlier one is lost.
    var epoch = 0
    var links: [ParticipantID: Link] = [:]
    /// Offers of ours for which we gave way. If the other side has given way as well, it answers them.
    var rolledBack: [ParticipantID: Int] = [:]
    /// A silent member joins, but sends nothing.
    var isSilent = false
    var end: RoomEndReason?
  }

  private enum Step {
    case deliver(SignallingEvent, to: Int, epoch: Int)
    /// The other end of a connection has ended it, or it was never established.
    case lost(Int, of: Int, cause: CloseReason.Cause)
    case established(Int)
    case join(Int, asSomeoneElse: Bool)
    case deadline(Int)
  }

  private(set) var members: [Member]
  /// What must not happen, one sentence each.
  private(set) var violations: [String] = []
  private var steps: [(time: Duration, number: Int, step: Step)] = []
  private var now = Duration.zero
  private var nextNumber = 0
  private var nextOffer = 0
  private var nextID = 0
  /// When the last event arrives that is on its way to a member.
  private var lastArrival: [Int: Duration] = [:]
  private var generator: SeededGenerator

  init(members count: Int, silent: Int = 0, seed: UInt64) {
    members = (0..<count).map { index in
      var member = Member()
      member.isSilent = index < silent
      return member
    }
    generator = SeededGenerator(seed: seed)
  }

  private var instant: MonotonicInstant { MonotonicInstant(sinceOrigin: now) }

  // MARK: Disturbances

  /// Lets a member join after a delay, if the server does not know it then.
  mutating func join(_ member: Int, after delay: Duration, asSomeoneElse: Bool = false) {
    add(.join(member, asSomeoneElse: asSomeoneElse), after: delay)
  }

  /// Cuts the connection of a member to the server.
  mutating func lose(_ member: Int) {
    guard let id = members[member].id else { return }
    members[member].id = nil
    members[member].epoch += 1
    for other in members.indices { deliver(.participantLeft(id, isRejoinVerified: true), to: other) }
    // Before the first answer of the server, the client tries again without a word.
    guard members[member].ownID != nil, !members[member].isSilent else { return }
    let lost = SignallingEvent.connectionLost(reason: "The server was lost.", retryAfter: .seconds(1))
    perform(members[member].state.received(lost, now: instant), of: member)
  }

  /// Runs for some time.
  mutating func run(for time: Duration) {
    let end = now + time
    while let next = steps.indices.min(by: { (steps[$0].time, steps[$0].number) < (steps[$1].time, steps[$1].number) }),
      steps[next].time <= end
    {
      let (time, _, step) = steps.remove(at: next)
      now = time
      take(step)
    }
    now = end
  }

  // MARK: The result

  /// Whether two members have a connection that both know.
  func areConnected(_ one: Int, _ other: Int) -> Bool {
    members[one].links.values.contains { link in
      guard case .connected(let number) = link else { return false }
      return members[other].links.values.contains(.connected(number))
    }
  }

  // MARK: Steps

  private mutating func add(_ step: Step, after delay: Duration) {
    steps.append((now + delay, nextNumber, step))
    nextNumber += 1
  }

  private mutating func delay() -> Duration { .milliseconds(Int.random(in: 1...400, using: &generator)) }

  /// Sends an event on the connection of the server to a member, which keeps the order.
  private mutating func deliver(_ event: SignallingEvent, to member: Int) {
    guard members[member].id != nil else { return }
    let arrival = max(now + delay(), lastArrival[member] ?? .zero)
    lastArrival[member] = arrival
    add(.deliver(event, to: member, epoch: members[member].epoch), after: arrival - now)
  }

  private mutating func take(_ step: Step) {
    switch step {
    case .deliver(let event, let member, let epoch):
      guard members[member].epoch == epoch else { return }
      if case .joined(let id, _) = event { members[member].ownID = id }
      if members[member].isSilent { return }
      perform(members[member].state.received(event, now: instant), of: member)
    case .lost(let number, let member, let cause):
      guard let (id, link) = members[member].links.first(where: { $0.value.number == number }) else { return }
      // The offer may have been repeated, and answered by a new connection.
      if cause == .failed, isAlive(link, of: member) { return }
      endLink(to: id, of: member, CloseReason(cause, ""))
    case .established(let number):
      let ends = members.indices.compactMap { member in
        members[member].links.first { $0.value == .answered(number) || $0.value == .agreed(number) }
          .map { (member: member, id: $0.key) }
      }
      guard ends.count == 2 else { return }
      for end in ends {
        members[end.member].links[end.id] = .connected(number)
        report(.stateChanged(.connected), of: end.id, to: end.member)
      }
    case .join(let member, let isSomeoneElse):
      join(member, asSomeoneElse: isSomeoneElse)
    case .deadline(let member):
      perform(members[member].state.timeReached(now: instant), of: member)
    }
  }

  private mutating func join(_ member: Int, asSomeoneElse: Bool) {
    guard members[member].id == nil else { return }
    var id = members[member].ownID
    if asSomeoneElse || id == nil {
      // The order of the ids is not that of the joins.
      id = ParticipantID("\(UInt8.random(in: .min ... .max, using: &generator))-\(nextID)")
      nextID += 1
    }
    guard let id else { return }
    let others = members.compactMap(\.id)
    for other in members.indices { deliver(.participantJoined(SignalledParticipant(id, offerer: .remote)), to: other) }
    members[member].id = id
    members[member].epoch += 1
    deliver(.joined(id: id, others: others.map { SignalledParticipant($0, offerer: .local) }), to: member)
  }

  // MARK: Actions

  private mutating func perform(_ actions: [RoomState.Action], of member: Int) {
    for action in actions {
      switch action {
      case .call(let participant): if participant.offerer == .local { offer(to: participant.id, from: member) }
      case .offer(let id): offer(to: id, from: member)
      case .repeatOffer(let id):
        if case .offered(let number) = members[member].links[id] { signal(.offer("\(number)"), to: id, from: member) }
      case .participantLeft(let id, _):
        // What is established continues while media arrives.
        if let link = members[member].links[id], !isAlive(link, of: member) {
          endLink(to: id, of: member, CloseReason(.connectionLost, ""))
        }
      case .receive(.offer(let text), let id): received(offer: Int(text) ?? 0, from: id, by: member)
      case .receive(.answer(let text), let id): received(answer: Int(text) ?? 0, from: id, by: member)
      case .disconnect(let id, let reason): endLink(to: id, of: member, reason)
      case .send(let message, let id): send(message, to: id, from: member)
      case .end(let reason): members[member].end = reason
      case .identify, .receive, .use, .hangUp, .verifyConnection: break
      }
    }
    if let deadline = members[member].state.deadline {
      add(.deadline(member), after: max(.milliseconds(1), deadline - instant))
    }
  }

  private mutating func report(_ event: PeerEvent, of id: ParticipantID, to member: Int) {
    perform(members[member].state.received(event, of: id, now: instant), of: member)
  }

  private mutating func signal(_ message: SignallingMessage, to id: ParticipantID, from member: Int) {
    report(.signal(message), of: id, to: member)
  }

  private mutating func send(_ message: SignallingMessage, to id: ParticipantID, from member: Int) {
    guard let sender = members[member].id, let receiver = members.firstIndex(where: { $0.id == id }) else { return }
    deliver(.message(message, from: sender), to: receiver)
  }

  private mutating func offer(to id: ParticipantID, from member: Int) {
    if let link = members[member].links[id] {
      violations.append("Member \(member) offers to \(id) although there is \(link).")
      return
    }
    nextOffer += 1
    members[member].links[id] = .offered(nextOffer)
    report(.stateChanged(.connecting), of: id, to: member)
    signal(.offer("\(nextOffer)"), to: id, from: member)
  }

  private mutating func received(offer number: Int, from id: ParticipantID, by member: Int) {
    switch members[member].links[id] {
    case .offered(let own):
      // A clash of offers: the polite side gives way.
      guard let ownID = members[member].ownID, ownID < id else { return }
      members[member].rolledBack[id] = own
    case .answered(number), .connected(number):
      // The offer is repeated.
      return signal(.answer("\(number)"), to: id, from: member)
    case .answered, .agreed, .connected:
      endLink(to: id, of: member, CloseReason(.connectionLost, "", isReplaced: true))
      report(.stateChanged(.connecting), of: id, to: member)
    case nil:
      report(.stateChanged(.connecting), of: id, to: member)
    }
    members[member].links[id] = .answered(number)
    // If our answer is not awaited any more, no check of ours is answered.
    add(.lost(number, of: member, cause: .failed), after: .seconds(30))
    signal(.answer("\(number)"), to: id, from: member)
  }

  private mutating func received(answer number: Int, from id: ParticipantID, by member: Int) {
    let isRolledBack = members[member].rolledBack[id] == number
    guard members[member].links[id] == .offered(number) || isRolledBack else { return }
    members[member].rolledBack[id] = nil
    members[member].links[id] = .agreed(number)
    add(.established(number), after: .milliseconds(10))
    // If the other side has ended it meanwhile, no check of ours is answered.
    add(.lost(number, of: member, cause: .failed), after: .seconds(30))
  }

  /// Whether media arrives on a connection.
  private func isAlive(_ link: Link, of member: Int) -> Bool {
    guard case .connected(let number) = link else { return false }
    return members.indices.contains { other in
      other != member && members[other].links.values.contains(.connected(number))
    }
  }

  private mutating func endLink(to id: ParticipantID, of member: Int, _ reason: CloseReason) {
    guard let link = members[member].links.removeValue(forKey: id) else { return }
    members[member].rolledBack[id] = nil
    // Only an established connection can tell the other side; any other fails there after some time.
    let isTold = if case .connected = link { true } else { false }
    for other in members.indices where other != member {
      guard members[other].links.values.contains(where: { $0.number == link.number }) else { continue }
      add(
        .lost(link.number, of: other, cause: isTold ? .closedByParticipant : .failed),
        after: isTold ? delay() : .seconds(30))
    }
    report(.ended(reason), of: id, to: member)
  }
}
