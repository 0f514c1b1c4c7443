import Firestore
import HTTPTransport
import Janus
import Media
import NIOCore
import NIOHTTP1
import PeerEngineTestSupport
import Signalling
import SkyRTC
import SocketIO
import TestSupport
import WHIP

/// A room of a server that does not verify who uses an id again. If no departure is reported, the guest is the same
/// participant with a new connection.
final class SkyRTCCarrier: SignallingCarrier {
  let guest = "anna"
  let guestOffers: Bool
  private let reportsDeparture: Bool
  private var membership = SkyRTCMembership()

  init(guestOffers: Bool, reportsDeparture: Bool) {
    self.guestOffers = guestOffers
    self.reportsDeparture = reportsDeparture
  }

  private func received(_ message: ServerMessage) -> [SignallingEvent] {
    if case .event(let event) = membership.received(message) { [event] } else { [] }
  }

  func begin() -> [SignallingEvent] {
    received(.peers(you: "bot", others: guestOffers ? [] : [guest])) + (guestOffers ? received(.joined(guest)) : [])
  }

  func guestReplaced() -> [SignallingEvent] {
    reportsDeparture ? received(.left(guest)) + received(.joined(guest)) : []
  }

  func guestSent(_ message: SignallingMessage) -> [SignallingEvent] {
    switch message {
    case .offer(let sdp): received(.signal(.offer(.init(type: "offer", sdp: sdp)), from: guest))
    case .answer(let sdp): received(.signal(.answer(.init(type: "answer", sdp: sdp)), from: guest))
    case .candidate: []
    }
  }

  func botSent(_ message: SignallingMessage) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    ([message], [])
  }
}

/// Calls between users with names.
final class SocketIOCarrier: SignallingCarrier {
  let guest = "111111"
  let guestOffers: Bool
  private var calls: CallControl
  private let now = MonotonicInstant.now

  init(guestOffers: Bool) {
    self.guestOffers = guestOffers
    var configuration = CallControl.Configuration()
    if !guestOffers { configuration.calls = [ParticipantID(guest)] }
    calls = CallControl(user: "bot", configuration: configuration)
  }

  private func events(_ actions: [CallControl.Action]) -> [SignallingEvent] {
    actions.compactMap { if case .deliver(let event) = $0 { event } else { nil } }
  }

  func begin() -> [SignallingEvent] {
    let id = ParticipantID(guest)
    return events(calls.loggedIn(now: now))
      + events(
        calls.received(guestOffers ? .callRequest(from: id) : .callResponse(from: id, isAccepted: true), now: now))
  }

  func guestReplaced() -> [SignallingEvent] {
    guestOffers ? events(calls.received(.callRequest(from: ParticipantID(guest)), now: now)) : []
  }

  func guestSent(_ message: SignallingMessage) -> [SignallingEvent] {
    let id = ParticipantID(guest)
    switch message {
    case .offer(let sdp): return events(calls.received(.offer(from: id, sdp: sdp), now: now))
    case .answer(let sdp): return events(calls.received(.answer(from: id, sdp: sdp), now: now))
    case .candidate: return []
    }
  }

  func botSent(_ message: SignallingMessage) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    let actions = calls.send(message, to: ParticipantID(guest))
    let isSent = actions.contains { if case .send = $0 { true } else { false } }
    return (isSent ? [message] : [], events(actions))
  }
}

/// Documents of a database, in one of its layouts.
final class FirestoreCarrier: SignallingCarrier {
  let guest: String
  let guestOffers: Bool
  private var layout: any SignallingLayout
  private let isCalledByDeletion: Bool
  private var now = MonotonicInstant.now
  private var seconds: Int64 = 100

  init(roomRole role: RoomSignalling.Role) {
    layout = RoomSignalling(room: "1", role: role)
    guest = role.other.rawValue
    guestOffers = role == .guest
    isCalledByDeletion = true
  }

  init(personRole role: PersonSignalling.Role) {
    layout = PersonSignalling(me: "bot", peer: "jerry", role: role)
    guest = "jerry"
    guestOffers = role == .callee
    isCalledByDeletion = role == .caller
  }

  /// Carries out changes, each of which takes longer than the layout waits for anything.
  private func perform(_ actions: [LayoutAction]) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    var waiting = actions
    var messages: [SignallingMessage] = []
    var events: [SignallingEvent] = []
    while !waiting.isEmpty {
      switch waiting.removeFirst() {
      case .event(let event): events.append(event)
      case .ignored: break
      case .change(let change):
        advance()
        if case .write(let written) = change {
          messages.append(written.kind == .offer ? .offer(written.sdp) : .answer(written.sdp))
        }
        waiting += layout.completed(change, serverTime: time, removedAny: true, now: now)
      }
    }
    return (messages, events)
  }

  private func advance() {
    now += .seconds(2)
    seconds += 2
  }

  private var time: FirestoreTimestamp { FirestoreTimestamp(seconds: seconds) }

  func begin() -> [SignallingEvent] {
    perform(layout.started(serverTime: time, removedAny: false, now: now)).events
  }

  func guestReplaced() -> [SignallingEvent] {
    advance()
    guard isCalledByDeletion else { return [] }
    return perform(layout.polled(Snapshot(description: .absent, outgoingExists: false), now: now)).events
  }

  func guestSent(_ message: SignallingMessage) -> [SignallingEvent] {
    advance()
    let description: StoredDescription
    switch message {
    case .offer(let sdp): description = StoredDescription(.offer, sdp: sdp, updateTime: time)
    case .answer(let sdp): description = StoredDescription(.answer, sdp: sdp, updateTime: time)
    case .candidate: return []
    }
    return perform(layout.polled(Snapshot(description: .present(description), outgoingExists: true), now: now)).events
  }

  func botSent(_ message: SignallingMessage) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    if case .candidate = message { return ([], []) }
    var result = perform(layout.send(message, to: guest, now: now))
    advance()
    if !guestOffers, result.toGuest.isEmpty {
      let polled = perform(layout.polled(Snapshot(description: .absent, outgoingExists: nil), now: now))
      result = (polled.toGuest, result.events + polled.events)
    }
    return result
  }
}

/// A WHEP server that is killed and started again: it does not know the session.
final class WHEPCarrier: SignallingCarrier {
  let guest = "media.example"
  let guestOffers = false
  private var session: WHIPSession?
  private var posted: Int?
  private let now = MonotonicInstant.now

  init() {
    session = (try? HTTPURL("https://media.example/whep/1")).map { url in
      WHIPSession(
        .player, endpoint: url, options: WHIPClient.Options(), generator: SeededGenerator(seed: 1))
    }
  }

  private func perform(
    _ actions: [WHIPSession.Action]
  ) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    var messages: [SignallingMessage] = []
    var events: [SignallingEvent] = []
    for action in actions {
      switch action {
      case .deliver(let event): events.append(event)
      case .log: break
      case .send(let number, let request) where request.method == .POST:
        posted = number
        messages.append(.offer(request.body.map { String(buffer: $0) } ?? ""))
      case .send(let number, let request):
        let status: HTTPResponseStatus = request.method == .DELETE ? .ok : .notFound
        let more = perform(
          session?.responded(to: number, .success(HTTPResponse(status: status)), now: now) ?? [])
        messages += more.toGuest
        events += more.events
      }
    }
    return (messages, events)
  }

  func begin() -> [SignallingEvent] { perform(session?.joined() ?? []).events }

  func guestReplaced() -> [SignallingEvent] { [] }

  func guestSent(_ message: SignallingMessage) -> [SignallingEvent] {
    guard case .answer(let sdp) = message, let number = posted else { return [] }
    let response = HTTPResponse(
      status: .created, headers: ["Content-Type": "application/sdp", "Location": "/session/\(number)"],
      body: ByteBuffer(string: sdp))
    return perform(session?.responded(to: number, .success(response), now: now) ?? []).events
  }

  func botSent(_ message: SignallingMessage) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    if case .candidate = message { return ([], []) }
    return perform(session?.send(message, to: ParticipantID(guest), now: now) ?? [])
  }
}

/// A Janus server that is killed and started again: a publisher has the same id as before.
final class JanusCarrier: SignallingCarrier {
  let guest = "feed-11"
  let guestOffers = true
  private var session = JanusSession(configuration: .init(room: .number(1234)))
  private var attach: String?
  private var lastID: UInt64 = 100
  private let now = MonotonicInstant.now

  private func perform(_ output: JanusOutput) -> [SignallingEvent] {
    var events = output.events
    for request in output.requests {
      let message: JanusMessage
      switch (request.janus, request.body?.request) {
      case ("claim", _):
        message = .error(JanusError(code: JanusError.sessionNotFound, reason: ""), transaction: request.transaction)
      case ("attach", _) where session.isJoined:
        attach = request.transaction
        continue
      case ("create", _), ("attach", _):
        lastID += 1
        message = .success(transaction: request.transaction, id: lastID)
      case ("message", "join") where request.body?.ptype == "publisher":
        let feed = JanusFeedInfo(
          id: .number(11), streams: [.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")])
        message = plugin(.joined(id: .number(1), privateID: 5, feeds: [feed]), request)
      default:
        message = plugin(.other, request)
      }
      events += perform(session.received(message, now: now))
    }
    return events
  }

  private func plugin(_ event: VideoRoomEvent, _ request: JanusRequest) -> JanusMessage {
    .plugin(event, handle: request.handleID ?? 0, transaction: request.transaction, description: nil)
  }

  func begin() -> [SignallingEvent] { perform(session.opened(now: now)) }

  func guestReplaced() -> [SignallingEvent] {
    session.connectionLost()
    return perform(session.opened(now: now))
  }

  func guestSent(_ message: SignallingMessage) -> [SignallingEvent] {
    guard case .offer(let sdp) = message, let attach else { return [] }
    lastID += 1
    let handle = lastID
    var events = perform(session.received(.success(transaction: attach, id: handle), now: now))
    events += perform(
      session.received(
        .plugin(
          .attached([.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")]), handle: handle,
          transaction: nil, description: JanusDescription(type: "offer", sdp: sdp)), now: now))
    return events + perform(session.received(.connected(handle: handle), now: now))
  }

  func botSent(_ message: SignallingMessage) -> (toGuest: [SignallingMessage], events: [SignallingEvent]) {
    let output = session.send(message, to: ParticipantID(guest), now: now)
    let isAnswered = output.requests.contains { $0.body?.request == "start" }
    return (isAnswered ? [message] : [], perform(output))
  }
}
