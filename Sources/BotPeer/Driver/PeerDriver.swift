internal import Glibc
internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import RTP

/// Sockets, clock and timers for the engines of all participants.
///
/// It lives on one event loop and is touched nowhere else, so it has no lock. It carries out what ``PeerSwitchboard`` says, and
/// decides nothing.
final class PeerDriver {
  /// Whose everything is.
  let switchboard: PeerSwitchboard

  private let loop: any EventLoop
  private let configuration: BotPeer.Configuration
  private let log: Logger
  private let emit: (ParticipantEvent) -> Void

  private var sockets: [TransportAddress: DatagramSocket] = [:]
  private var gatherers: [TransportAddress: ServerReflexiveGatherer] = [:]
  private var timer: Scheduled<Void>?
  private var timerDeadline: ContinuousClock.Instant?

  init(
    loop: any EventLoop, configuration: BotPeer.Configuration, log: Logger = Logger(label: "peer"),
    emit: @escaping (ParticipantEvent) -> Void
  ) {
    self.loop = loop
    self.configuration = configuration
    self.log = log
    self.emit = emit
    var settings = PeerSwitchboard.Configuration(sending: configuration.sending, isPolite: configuration.isPolite)
    settings.media = MediaSession.Configuration(keyframeAnswer: configuration.keyframeAnswer)
    settings.media.congestion.minimumBitrate = Double(configuration.minimumSendBitrate)
    settings.media.congestion.maximumBitrate = Double(configuration.maximumSendBitrate)
    switchboard = PeerSwitchboard(settings)
  }

  // MARK: Sockets

  /// Binds a socket on each address; at least one must succeed.
  func bind(_ addresses: [IPAddress], port: UInt16) -> EventLoopFuture<[TransportAddress]> {
    let this = NIOLoopBound(self, eventLoop: loop)
    let attempts = addresses.map { ip in
      DatagramSocket.bind(
        ip: ip, port: port, on: loop,
        received: { this.value.received($0, from: $1, to: $2) },
        batchEnded: { this.value.carryOutAll(now: .now) })
    }
    return EventLoopFuture.whenAllComplete(attempts, on: loop).flatMapThrowing { results in
      var problems: [String] = []
      for (ip, result) in zip(addresses, results) {
        switch result {
        case .success(let socket): this.value.sockets[socket.value.address] = socket.value
        case .failure(let error): problems.append("\(ip): \(Self.reason(error))")
        }
      }
      guard !this.value.sockets.isEmpty else {
        throw BotPeer.StartError.noSocket(port: port, problems: problems)
      }
      for problem in problems { this.value.log.debug("no UDP socket", metadata: ["reason": "\(problem)"]) }
      this.value.switchboard.localAddresses = Array(this.value.sockets.keys)
      return this.value.switchboard.localAddresses
    }
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? IOError, let text = strerror(error.errnoCode) else { return "\(error)" }
    return String(cString: text)
  }

  /// Begins to ask the STUN servers how the sockets look from outside.
  func gatherServerReflexive(from servers: [TransportAddress]) {
    let now = ContinuousClock.now
    for address in sockets.keys {
      // A server elsewhere cannot answer a loopback address, and one on this machine tells nothing of another.
      let reachable = servers.filter { $0.family == address.family && $0.ip.isLoopback == address.ip.isLoopback }
      guard !reachable.isEmpty else { continue }
      gatherers[address] = ServerReflexiveGatherer(base: address, servers: reachable, now: now)
    }
    carryOutAll(now: now)
  }

  private func received(_ datagram: ByteBuffer, from remote: TransportAddress, to local: TransportAddress) {
    // Each has its own arrival, though a batch comes at once: a sender that probes the line measures the differences.
    let now = ContinuousClock.now
    // The buffer is a slice of one that the whole batch shares; what is decrypted in place or kept needs its own bytes.
    let own = ByteBuffer(bytes: datagram.readableBytesView)
    if gatherers[local] != nil, PacketKind.of(own) == .stun, let envelope = STUNEnvelope(own),
      gatherers[local]?.owns(transactionID: envelope.transactionID) == true
    {
      _ = gatherers[local]?.received(own, from: remote, now: now)
    } else {
      switchboard.received(own, from: remote, to: local, now: now)
    }
  }

  // MARK: Calls

  func offer(to participant: ParticipantID) {
    turn { $0.offer(to: participant, now: $1) }
  }

  func received(_ message: SignallingMessage, from participant: ParticipantID) {
    turn { $0.received(message, from: participant, now: $1) }
  }

  func participantLeft(_ participant: ParticipantID) {
    turn { $0.participantLeft(participant, now: $1) }
  }

  func send(_ frame: EncodedFrame) {
    turn { $0.send(frame, now: $1) }
  }

  func send(_ frame: EncodedFrame, to participant: ParticipantID) {
    turn { $0.send(frame, to: participant, now: $1) }
  }

  func requestKeyframe(of participant: ParticipantID?) {
    turn { $0.requestKeyframe(of: participant, now: $1) }
  }

  func disconnect(_ participant: ParticipantID, because ending: PeerEnding) {
    turn { $0.disconnect(participant, because: ending, now: $1) }
  }

  func close(reason: String) {
    turn { switchboard, now in
      for participant in Array(switchboard.engines.keys) {
        switchboard.disconnect(participant, because: PeerEnding(.closedByUs, reason), now: now)
      }
    }
    timer?.cancel()
    for socket in sockets.values {
      socket.flush()
      socket.close()
    }
    sockets.removeAll()
  }

  var statistics: [PeerStatistics] { switchboard.statistics }

  // MARK: Turns

  private func turn(_ work: (PeerSwitchboard, ContinuousClock.Instant) -> Void) {
    let now = ContinuousClock.now
    work(switchboard, now)
    carryOutAll(now: now)
  }

  /// Carries out what is to be done now, and sets the timer for what is due next.
  private func carryOutAll(now: ContinuousClock.Instant) {
    gather(now: now)
    switchboard.poll(now: now, wallClock: configuration.wallClock()) { action, participant in
      switch action {
      case .transmit(let datagram, let local, let remote):
        let isMedia = (datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) ?? 0) >= 128
        sockets[local]?.write(datagram, to: remote, isVital: !isMedia)
      case .event(let event):
        emit(ParticipantEvent(participant: participant, event: event))
      }
    }
    for socket in sockets.values { socket.flush() }
    setTimer(now: now)
  }

  private func gather(now: ContinuousClock.Instant) {
    for base in gatherers.keys {
      for action in gatherers[base]?.poll(now: now) ?? [] {
        switch action {
        case .send(let datagram, let server): sockets[base]?.write(datagram, to: server)
        case .mapped(let mapped, _): switchboard.addServerReflexive(mapped, base: base)
        case .failed(let server): log.debug("STUN server did not answer", metadata: ["server": "\(server)"])
        }
      }
    }
  }

  private func setTimer(now: ContinuousClock.Instant) {
    guard let next = [gatherers.values.compactMap(\.deadline).min(), switchboard.deadline].compactMap(\.self).min()
    else { return }
    if let timerDeadline, timerDeadline <= next, timerDeadline > now { return }
    timer?.cancel()
    timerDeadline = next
    // Never at once: whatever is overdue has just been polled, and would be again and again.
    let delay = max(next - now, .milliseconds(1))
    timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
      self?.timerDeadline = nil
      self?.carryOutAll(now: .now)
    }
  }
}
