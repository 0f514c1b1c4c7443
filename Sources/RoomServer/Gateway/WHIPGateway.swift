import BotPeer
import HTTPTransport
import Logging
import Media
import NIOCore
import NIOHTTP1
import Signalling
import SkyRTC
import WHIP

/// Connects clients of WHIP and WHEP with the rooms of the server: a publisher becomes a participant of a room, and a
/// player receives a participant of a room.
///
/// One peer serves all HTTP sessions. Frames are forwarded as they arrive, without decoding.
actor WHIPGateway: HTTPRequestResponder {
  /// A session of an HTTP client.
  private enum Session {
    case publisher(RoomPublisher)
    case player(RoomListener)

    func join() async throws {
      switch self {
      case .publisher(let publisher): try await publisher.join()
      case .player(let listener): try await listener.join()
      }
    }

    func leave() async {
      switch self {
      case .publisher(let publisher): await publisher.leave()
      case .player(let listener): await listener.leave()
      }
    }
  }

  nonisolated let maximumBodyBytes: Int
  private var server: WHIPServer
  private let peer: Peer
  private let log: Logger
  private let forwarding: FrameForwarding
  private var access: RoomAccess?
  private var requests = 0
  private var waiting: [Int: CheckedContinuation<HTTPResponse, Never>] = [:]
  private var sessions: [ParticipantID: Session] = [:]
  /// Who listens to each room for its players.
  private var listeners: [String: RoomListener] = [:]
  /// The media sections of each client that were rejected, by us or by the client.
  private var rejected: [ParticipantID: [RejectedSection]] = [:]
  private var bitrateLimits: [ParticipantID: BitrateLimit] = [:]
  /// Clients that are refused can come as fast as requests.
  private var refusals = LogRateLimiter(perSecond: 1, burst: 20)
  private var problems = LogRateLimiter(perSecond: 1, burst: 20)
  private var timer: Task<Void, Never>?
  private var events: Task<Void, Never>?
  private var isClosed = false

  /// Starts the peer of the HTTP sessions.
  ///
  /// - Parameter loop: receives and forwards their media.
  static func start(
    options: WHIPServer.Options, configuration: Peer.Configuration, on loop: any EventLoop, log: Logger
  ) async throws -> WHIPGateway {
    let forwarding = FrameForwarding()
    var configuration = configuration
    configuration.sending = Set(MediaKind.allCases)
    configuration.receiving = Set(MediaKind.allCases)
    configuration.keyframeResponse = .requestFromSource
    configuration.isForwarding = true
    // A player that offers several sections receives as many streams.
    configuration.sendsInEverySection = true
    // It is answered before media arrives, and the participant that it sees may change.
    configuration.answersWithEachCodec = true
    configuration.mediaSinks = [forwarding]
    let peer = try await Peer.start(configuration, on: loop, log: log)
    let gateway = WHIPGateway(options: options, peer: peer, forwarding: forwarding, log: log)
    await gateway.begin()
    return gateway
  }

  private init(options: WHIPServer.Options, peer: Peer, forwarding: FrameForwarding, log: Logger) {
    server = WHIPServer(options: options)
    maximumBodyBytes = options.maximumBodyBytes
    self.peer = peer
    self.forwarding = forwarding
    self.log = log
  }

  private func begin() {
    events = Task {
      for await event in peer.events { happened(event) }
    }
    timer = Task {
      var count = 0
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(250))
        carryOut(server.timePassed(now: .now()))
        count &+= 1
        if count.isMultiple(of: 4) { await limitBitrates() }
      }
    }
  }

  /// Ends the sessions of publishers that send too much. Everyone in their room receives what they send.
  private func limitBitrates() async {
    for statistics in await peer.statistics() {
      let participant = statistics.participant
      guard case .publisher(let publisher) = sessions[participant] else { continue }
      let bytes = statistics.received.values.reduce(0) { $0 &+ $1.bytesReceived }
      guard let bitrate = bitrateLimits[participant, default: BitrateLimit()].add(bytes: bytes, now: .now) else {
        continue
      }
      let sentence =
        "A publisher sent \(bitrate / 1_000_000) Mb/s over \(BitrateLimit.window), but the limit is "
        + "\(BitrateLimit.bitsPerSecond / 1_000_000) Mb/s; its session ends."
      log.warning("\(sentence)", metadata: ["room": "\(publisher.room.printable())"])
      peer.disconnect(participant, because: CloseReason(.closedByUs, sentence))
    }
  }

  /// How many sessions there are, and the statistics of their connections.
  func figures() async -> RoomServer.GatewayFigures {
    var figures = RoomServer.GatewayFigures()
    for session in sessions.values {
      switch session {
      case .publisher: figures.publishers += 1
      case .player: figures.players += 1
      }
    }
    figures.peers = await peer.statistics()
    return figures
  }

  /// Lets sessions join rooms from now on.
  func open(_ access: RoomAccess) { self.access = access }

  /// Ends all sessions.
  func close() async {
    isClosed = true
    timer?.cancel()
    await withTaskGroup(of: Void.self) { group in
      for session in sessions.values { group.addTask { await session.leave() } }
    }
    await peer.close(reason: "The server shuts down.")
    await events?.value
    for continuation in waiting.values {
      continuation.resume(returning: HTTPResponse(status: .serviceUnavailable))
    }
    waiting = [:]
  }

  // MARK: Requests

  nonisolated func handles(_ target: String) -> Bool {
    WHIPServer.handles(target) || Self.page(at: target) != nil
  }

  func respond(to request: HTTPServerRequest) async -> HTTPResponse {
    if !WHIPServer.handles(request.target), let page = Self.page(at: request.target) {
      guard request.method == .GET || request.method == .HEAD else {
        let hint = "A page is at this path; an endpoint is /whip/ROOM or /whep/ROOM.\n"
        return HTTPResponse(
          status: .methodNotAllowed, headers: ["Allow": "GET, HEAD", "Content-Type": "text/plain; charset=utf-8"],
          body: ByteBuffer(string: hint))
      }
      return HTTPResponse(status: .ok, headers: ["Content-Type": page.type], body: page.content)
    }
    if isClosed { return HTTPResponse(status: .serviceUnavailable) }
    requests &+= 1
    let number = requests
    let headers = Self.withoutOwnOrigin(request.headers)
    let response = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[number] = continuation
        let request = WHIPServer.Request(
          request.method, request.target, headers: headers, body: request.body, address: request.address)
        carryOut(server.received(request, number: number, now: .now()))
      }
    } onCancel: {
      Task { await self.abandon(number) }
    }
    report(response, to: request)
    return response
  }

  /// Logs why an offer was refused.
  private func report(_ response: HTTPResponse, to request: HTTPServerRequest) {
    guard request.method == .POST, (400..<500).contains(response.status.code), response.status != .tooManyRequests,
      let path = WHIPPath(target: request.target), case .endpoint(let role, let room, _) = path,
      let suppressedCount = refusals.consume(now: .now)
    else { return }
    var metadata: Logger.Metadata = [
      "room": "\(room.printable())", "protocol": "\(role)", "status": "\(response.status.code)",
      "reason": "\(response.text.prefix { $0 != "\n" })",
    ]
    if suppressedCount > 0 { metadata["others since the last line"] = "\(suppressedCount)" }
    log.warning("an offer was refused", metadata: metadata)
  }

  /// The server's own pages need no permission, like programs, which send no origin.
  private static func withoutOwnOrigin(_ headers: HTTPHeaders) -> HTTPHeaders {
    guard SkyRTCServer.isOwnPage(origins: headers["Origin"], hosts: headers["Host"]) else { return headers }
    var headers = headers
    headers.remove(name: "Origin")
    return headers
  }

  private func abandon(_ number: Int) {
    guard let continuation = waiting.removeValue(forKey: number) else { return }
    carryOut(server.abandoned(request: number))
    continuation.resume(returning: HTTPResponse(status: .serviceUnavailable))
  }

  /// The page for a target: `/whip` and `/whep` without a room, and their files.
  private static func page(at target: String) -> WHIPPage.File? {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    return switch path {
    case "/whip", "/whip/": WHIPPage.files["/whip.html"]
    case "/whep", "/whep/": WHIPPage.files["/whep.html"]
    default: WHIPPage.files[String(path)]
    }
  }

  private func carryOut(_ outcomes: [WHIPServer.Outcome]) {
    for outcome in outcomes {
      switch outcome {
      case .respond(let number, let response): waiting.removeValue(forKey: number)?.resume(returning: response)
      case .event(let event): received(event)
      case .participants(let number, let room):
        let senders = listeners[room]?.senders ?? []
        let list = senders.map { WHIPServer.Participant(id: $0.id.text, name: $0.name) }
        waiting.removeValue(forKey: number)?.resume(returning: server.participantsResponse(list))
      }
    }
  }

  // MARK: Sessions

  private func received(_ event: WHIPServer.Event) {
    switch event {
    case .offer(let id, let role, let sdp, let room, let name):
      begin(id, role, sdp: sdp, room: room, name: name)
    case .candidate(let id, let candidate):
      peer.receive(.candidate(candidate), from: ParticipantID(id.text))
    case .restart(let id, let sdp):
      peer.receive(.offer(sdp), from: ParticipantID(id.text))
    case .ended(let id):
      let participant = ParticipantID(id.text)
      peer.disconnect(participant, because: CloseReason(.closedByParticipant, "The client ended its session."))
      remove(participant)
    }
  }

  private func begin(_ id: WHIPServer.SessionID, _ role: WHIPClient.Role, sdp: String, room: String, name: String?) {
    guard let access else {
      return carryOut(server.refused(id, reason: "The server does not admit anybody yet.", now: .now()))
    }
    let participant = ParticipantID(id.text)
    let metadata: Logger.Metadata = ["room": "\(room.printable())", "protocol": "\(role)"]
    log.info("a client began a session", metadata: metadata)
    // Only the client knows the address of its session.
    switch role {
    case .publisher:
      let publisher = RoomPublisher(room: room, name: name, access: access, log: log) { [peer] in
        peer.requestKeyframe(of: participant)
      }
      sessions[participant] = .publisher(publisher)
      forwarding.set(participant) { publisher.receive($0) }
      peer.call(SignalledParticipant(participant, offerer: .remote, direction: .receiveOnly, isIdentityVerified: true))
    case .player:
      let listener =
        listeners[room]
        ?? RoomListener(room: room, access: access, log: log) { [peer] frame, players in peer.send(frame, to: players) }
      listeners[room] = listener
      listener.add(participant, wants: name)
      sessions[participant] = .player(listener)
      peer.call(SignalledParticipant(participant, offerer: .remote, direction: .sendOnly, isIdentityVerified: true))
    }
    peer.receive(.offer(sdp), from: participant)
  }

  private func happened(_ event: ParticipantEvent) {
    let participant = event.participant
    let id = WHIPServer.SessionID(text: participant.text)
    switch event.event {
    case .signal(.answer(let sdp)):
      if case .publisher(let publisher) = sessions[participant] { publisher.answered(sdp) }
      carryOut(server.answered(id, sdp: sdp, rejected: rejected[participant, default: []], now: .now()))
    case .sectionRejected(let section):
      warn(section.description, of: participant)
      rejected[participant, default: []].append(section)
    case .problem(let sentence):
      let reasons = [sentence] + rejected[participant, default: []].map(\.description)
      let outcomes = server.refused(id, reason: reasons.joined(separator: " "), now: .now())
      // A refused offer is logged with its response. Later problems have none, such as that a player does not accept a codec.
      if outcomes.isEmpty { warn(sentence, of: participant) }
      carryOut(outcomes)
    case .stateChanged(.connected):
      // Only media that arrives is worth a participant in the room. Others do not wait until one has joined.
      if let session = sessions[participant] {
        if case .player(let listener) = session {
          listener.connected(participant) { [peer] in peer.prime($0, for: participant) }
        }
        Task { await join(session, of: participant) }
      } else {
        peer.disconnect(participant, because: CloseReason(.closedByUs, "The session has ended."))
      }
    case .keyframeRequested:
      if case .player(let listener) = sessions[participant] { listener.requestKeyframe(for: participant) }
    case .ended(let reason):
      report(reason, of: participant)
      carryOut(server.ended(id))
      remove(participant)
    case .signal, .stateChanged, .media, .reached, .pathSelected, .targetBitrate, .iceRestarted, .mediaAnnounced:
      break
    }
  }

  /// Logs a problem of a session.
  private func warn(_ sentence: String, of participant: ParticipantID) {
    guard problems.consume(now: .now) != nil else { return }
    log.warning("\(sentence)", metadata: ["session": "\(participant)"])
  }

  /// Logs why a session ended, as a warning if it was not ended on purpose.
  private func report(_ reason: CloseReason, of participant: ParticipantID) {
    guard sessions[participant] != nil else { return }
    switch reason.cause {
    case .failed, .connectionLost: warn("A session ended: \(reason)", of: participant)
    case .closedByUs, .closedByParticipant:
      log.info("a session ended", metadata: ["session": "\(participant)", "reason": "\(reason)"])
    }
  }

  /// Lets a session join its room. If that fails, all sessions end that use the same participant of the room, so that
  /// their clients can try again.
  private func join(_ session: Session, of participant: ParticipantID) async {
    do {
      try await session.join()
      if case .player(let listener) = session { listener.requestKeyframe(for: participant) }
    } catch {
      log.warning("a room cannot be joined", metadata: ["reason": "\(error)"])
      var all = [participant]
      if case .player(let listener) = session { all += listener.playerIDs }
      for participant in all {
        peer.disconnect(participant, because: CloseReason(.closedByUs, "The room cannot be joined."))
      }
    }
  }

  private func remove(_ participant: ParticipantID) {
    forwarding.remove(participant)
    bitrateLimits[participant] = nil
    rejected[participant] = nil
    // The peer forgets the direction of the media.
    peer.participantLeft(participant)
    guard let session = sessions.removeValue(forKey: participant) else { return }
    if case .player(let listener) = session {
      guard listener.remove(participant) else { return }
      listeners[listener.room] = nil
    }
    Task { await session.leave() }
  }
}
