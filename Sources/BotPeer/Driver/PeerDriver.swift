internal import Glibc
internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import PeerEngine
internal import RTP
internal import Signalling

/// Sockets, clock and timers for the engines of all participants.
///
/// It belongs to one event loop and is used only there, so it needs no lock. It executes the actions of
/// ``PeerDemultiplexer`` and makes no decisions.
final class PeerDriver {
  /// The engines of all participants.
  let demultiplexer: PeerDemultiplexer
  /// The way of datagrams to and from ``demultiplexer``.
  let datagrams: NetworkedDemultiplexer

  let loop: any EventLoop
  let configuration: Peer.Configuration
  let log: Logger
  private let emit: (ParticipantEvent) -> Void
  /// Receive media in place of ``emit``, unless nil.
  private let mediaSinks: [any MediaSink]?
  private let participantEnded: (ParticipantID) -> Void
  let channels: DataChannelRegistry
  private let turnEnded: (MonotonicInstant) -> MonotonicInstant?

  var sockets: [TransportAddress: DatagramSocket] = [:]
  var gatherers: [TransportAddress: ServerReflexiveGatherer] = [:]
  var bySocket: [Int32: DatagramSocket] = [:]
  var relays: RelaySet?
  var tcp: TCPConnections?
  var names: NameResolver?
  let hostNames: HostNames?
  var nat64: NAT64Resolver?
  /// The servers, and the port of sockets that are opened later.
  var servers = ICEServers()
  var port: UInt16 = 0
  var tcpPort: UInt16 = 0
  var addressMonitor: AddressMonitor?
  /// When the addresses of this machine are read again, because they have changed.
  var addressesDue: MonotonicInstant?
  /// Changes come in bursts, and an IPv6 address is usable only after a while.
  static let addressDelay = Duration.milliseconds(50)
  var poller: SocketPoller?
  /// The counters of all sockets at the last ``threadWasBusy(_:now:)``.
  private var counted: (read: UInt64, unassigned: UInt64, dropped: UInt32) = (0, 0, 0)
  /// How many datagrams the demultiplexer had dropped at the end of the last turn.
  private var unassignedBefore: UInt64 = 0
  /// Whether strangers sent many datagrams since the turn before. They fill the kernel's buffer, so it is read more often.
  private var isFlooded = false
  private static let floodThreshold: UInt64 = 64
  /// The time at which the suspension of video was logged; nil while no video is suspended.
  private var suspensionReported: MonotonicInstant?

  /// How long received datagrams may wait until they are read. A peer that only receives can wait longer, because
  /// nothing waits for a response to its media.
  ///
  /// More datagrams are then read together, which costs less: with few users the polls cost more than the packets. The
  /// driver does not wait if the kernel cannot buffer that long, nor while a participant is being connected: a
  /// connection takes about ten messages, each the response to another.
  var pollInterval: Duration {
    if isConnecting || isFlooded { return SocketPoller.minimumInterval }
    if isUrgent || !isListener { return SocketPoller.interval }
    return SocketPoller.interval * (newlyRead < Self.fewDatagrams ? 8 : 4)
  }

  /// Whether a participant is in the first seconds of connecting and the thread has time to poll more often. A
  /// participant who reconnects again and again so takes no time that others need.
  var isConnecting: Bool { demultiplexer.isConnecting && !isBusy }

  /// Whether the thread was busy for more than half of the last ``OverloadController/interval``.
  private var isBusy = false

  /// The number of datagrams in the last poll that returned any.
  var newlyRead = 0
  /// The number of datagrams that are read from a socket before other sockets have their turn.
  private static let fewDatagrams = DatagramSocket.maximumBatches * ReceiveBatch.capacity

  private var isTurnScheduled = false
  /// Whether a turn goes on. Events and media are handed over in it, so what their receivers call must wait for
  /// its end.
  private(set) var isInTurn = false
  /// Whether all connections are ending.
  private var isClosing = false
  /// Whether the peer sends no media and the kernel's buffers are large.
  var isListener = false
  /// Whether something has arrived since ``carryOutAll(now:)``.
  private(set) var hasNewData = false
  /// The time at which ``carryOutAll(now:)`` is needed next even if nothing arrives.
  private(set) var deadline: MonotonicInstant?
  /// Whether the deadline must not be exceeded by some milliseconds.
  var isUrgent: Bool { datagrams.isUrgent }

  /// - Parameters:
  ///   - network: what datagrams pass between the engines and the sockets; nil for nothing.
  ///   - checkPace: the pacer that all drivers of the process share.
  ///   - emit: receives the events.
  ///   - participantEnded: called when a participant has no connection any more.
  ///   - dataChannelOpened: receives each data channel that was not requested.
  ///   - turnEnded: called at the end of each turn; returns the time at which it must be called again.
  init(
    loop: any EventLoop, configuration: Peer.Configuration, network: (any DatagramNetwork)? = nil,
    checkPace: CheckPacer = CheckPacer(),
    log: Logger = Logger(label: "peer"),
    emit: @escaping (ParticipantEvent) -> Void,
    participantEnded: @escaping (ParticipantID) -> Void = { _ in },
    dataChannelOpened: @escaping (DataChannel) -> Void = { _ in },
    turnEnded: @escaping (MonotonicInstant) -> MonotonicInstant? = { _ in nil }
  ) {
    self.loop = loop
    self.configuration = configuration
    self.log = log
    self.emit = emit
    mediaSinks = configuration.mediaSinks
    self.participantEnded = participantEnded
    channels = DataChannelRegistry(opened: dataChannelOpened)
    self.turnEnded = turnEnded
    hostNames = configuration.hidesAddresses ? HostNames() : nil
    var settings = PeerDemultiplexer.Configuration(
      policy: configuration.policy(hostNames: hostNames), isPolite: configuration.isPolite ?? { _ in true })
    settings.checkPace = checkPace
    settings.departedLimit = max(1, configuration.maximumDeparted)
    demultiplexer = PeerDemultiplexer(settings)
    datagrams = NetworkedDemultiplexer(demultiplexer, network: network)
    if configuration.iceTransportPolicy == .relay {
      demultiplexer.relayFailure = "No TURN server was named, neither by us nor by the signalling."
    }
    nat64 = NAT64Resolver(on: loop) { [unowned self] now in carryOutAll(now: now) }
  }

  // MARK: Sockets

  /// Reads the datagrams of a socket. Each is processed with its own arrival time, although they are read together.
  ///
  /// - Returns: whether more datagrams may be queued.
  func receive(at descriptor: Int32) -> Bool {
    if !hasNewData { newlyRead = 0 }
    hasNewData = true
    guard let socket = bySocket[descriptor] else {
      if descriptor == addressMonitor?.descriptor {
        if addressMonitor?.drain() == true { addressesDue = .now + Self.addressDelay }
        return false
      }
      if let hasMore = names?.receive(at: descriptor) { return hasMore }
      return relays?.receive(at: descriptor) { event, arrival in handle(event, now: arrival) } ?? false
    }
    let gathers = gatherers[socket.address] != nil
    return socket.receive { datagram, remote, arrival in
      newlyRead &+= 1
      if gathers, received(datagram, from: remote, gathererAt: socket.address, now: arrival) { return }
      datagrams.received(&datagram, from: remote, to: socket.address, now: arrival)
    }
  }

  /// Looks for a new path to a participant.
  func restartICE(of participant: ParticipantID) {
    turn { demultiplexer, _ in demultiplexer.restartICE(of: participant) }
  }

  /// Sends an offer again that the participant has not answered.
  func repeatOffer(to participant: ParticipantID) {
    turn { $0.repeatOffer(to: participant, now: $1) }
  }

  /// Reports the share of the last ``OverloadController/interval`` that the thread was busy, 0 to 1, and applies the
  /// result.
  func threadWasBusy(_ share: Double, now: MonotonicInstant) {
    isBusy = share > 0.5
    let all = Array(sockets.values) + (relays?.sockets ?? [])
    let read = all.reduce(UInt64(0)) { $0 &+ $1.datagramsRead }
    let dropped = all.reduce(UInt32(0)) { $0 &+ $1.datagramsOverflowed }
    let unassigned = demultiplexer.datagramsDropped
    let load = MachineLoad(
      datagramsRead: read &- counted.read, datagramsUnassigned: unassigned &- counted.unassigned,
      datagramsDropped: UInt64(dropped &- counted.dropped), busy: share)
    counted = (read, unassigned, dropped)
    let (suspended, senders) = demultiplexer.updateOverload(load, now: now)
    if suspended > 0 || suspensionReported != nil { hasNewData = true }
    logSuspension(suspended: suspended, of: senders, now: now)
  }

  private func logSuspension(suspended: Int, of senders: Int, now: MonotonicInstant) {
    if suspended > 0, suspensionReported == nil {
      suspensionReported = now
      log.warning(
        "This machine cannot process all packets: the video of some users is suspended, in turns.",
        metadata: ["suspended": "\(suspended)", "users": "\(senders)"])
    } else if suspended == 0, let reported = suspensionReported {
      suspensionReported = nil
      log.notice("This machine can process all video again.", metadata: ["suspendedFor": "\(now - reported)"])
    }
  }

  func isDue(now: MonotonicInstant) -> Bool {
    if let deadline { deadline <= now } else { false }
  }

  /// Passes a response of a STUN server to the gatherer that awaits it; returns whether there is one.
  private func received(
    _ datagram: ByteBuffer, from remote: TransportAddress, gathererAt local: TransportAddress, now: MonotonicInstant
  ) -> Bool {
    // The first byte of a response (RFC 8489, 5).
    guard datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) == 1, let routing = STUNRouting(datagram),
      gatherers[local]?.owns(transactionID: routing.transactionID) == true
    else { return false }
    return gatherers[local]?.received(datagram, from: remote, now: now) ?? false
  }

  // MARK: Calls

  func announce(_ participant: SignalledParticipant) { demultiplexer.announce(participant) }

  func offer(to participant: ParticipantID) {
    if isClosing { return }
    SRTPSession.startLibrary()
    turn { $0.offer(to: participant, now: $1) }
  }

  func received(_ message: SignallingMessage, from participant: ParticipantID) {
    if isClosing { return }
    SRTPSession.startLibrary()
    turn { $0.received(message, from: participant, now: $1) }
  }

  func participantLeft(_ participant: ParticipantID, isRejoinVerified: Bool) {
    turn { $0.participantLeft(participant, isRejoinVerified: isRejoinVerified, now: $1) }
  }

  func send(_ frame: EncodedFrame) {
    turn { $0.send(frame, now: $1) }
  }

  func send(_ frame: EncodedFrame, to participants: [ParticipantID]) {
    turn { $0.send(frame, to: participants, now: $1) }
  }

  func prime(_ group: GroupOfPicturesCache, for participant: ParticipantID) {
    turn { driver, now in driver.withEngine(of: participant) { $0.prime(group, now: now) } }
  }

  func requestKeyframe(of participant: ParticipantID?) {
    turn { $0.requestKeyframe(of: participant, now: $1) }
  }

  func disconnect(_ participant: ParticipantID, because ending: CloseReason) {
    turn { $0.disconnect(participant, because: ending, now: $1) }
  }

  func close(reason: String) {
    isClosing = true
    turn { demultiplexer, now in
      for participant in Array(demultiplexer.engines.keys) {
        demultiplexer.disconnect(participant, because: CloseReason(.closedByUs, reason), now: now)
      }
    }
    // The driver will not exist to send them later, and without a goodbye the remote peer waits for long.
    for held in datagrams.takeHeldDatagrams() {
      send(held.datagram, from: held.local, to: held.remote, of: held.participant, now: .now)
    }
    tcp?.close()
    tcp = nil
    relays?.close()
    relays = nil
    names?.close()
    names = nil
    poller?.leave(self)
    poller = nil
    addressMonitor?.close()
    addressMonitor = nil
    nat64 = nil
    for socket in sockets.values {
      socket.flush()
      socket.close()
    }
    sockets.removeAll()
    bySocket.removeAll()
  }

  var statistics: [PeerStatistics] { datagrams.statistics }

  /// Whether there is a connection to a participant, or received messages will begin one.
  func isConnecting(to participant: ParticipantID) -> Bool { demultiplexer.isConnecting(to: participant) }

  // MARK: Turns

  func turn(_ work: (PeerDemultiplexer, MonotonicInstant) -> Void) {
    let wasInTurn = isInTurn
    isInTurn = true
    defer { isInTurn = wasInTurn }
    let now = MonotonicInstant.now
    work(demultiplexer, now)
    carryOutAll(now: now)
  }

  /// Executes all actions that are due within a ms, those of several reads of connections together.
  func carryOutSoon() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = true
    loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [weak self] in
      guard let self else { return }
      isTurnScheduled = false
      // Not after it was closed.
      if poller != nil { carryOutAll(now: .now) }
    }
  }

  /// Executes all actions that are due.
  func carryOutAll(now: MonotonicInstant) {
    let wasInTurn = isInTurn
    isInTurn = true
    defer { isInTurn = wasInTurn }
    updateAddresses(now: now)
    updateNAT64(now: now)
    gather(now: now)
    var ended: [ParticipantID] = []
    datagrams.poll(now: now, wallClock: configuration.wallClock()) { action, participant in
      switch action {
      case .transmit(let datagram, let local, let remote):
        send(datagram, from: local, to: remote, of: participant, now: now)
      case .event(let event):
        emit(ParticipantEvent(participant: participant, event: event, at: now))
        guard case .ended = event else { break }
        ended.append(participant)
        // When the peer closes, its TCP connections end after the last datagrams of all participants.
        if !isClosing { tcp?.close(participant, isDelayed: configuration.network != nil) }
      case .media(let events):
        deliver(events, of: participant, now: now)
      case .dataChannel(let action):
        let mustPause = channels.carryOut(action, of: participant) {
          Self.commands(NIOLoopBound(self, eventLoop: loop), on: loop, participant: participant)
        }
        if mustPause { demultiplexer.engines[participant]?.setDataReadingPaused(true) }
      }
    }
    resolveNames(now: now)
    for socket in sockets.values { socket.flush() }
    tcp?.flush()
    relays?.poll(now: now) { handle($0, now: now) }
    if hasNewData {
      isFlooded = demultiplexer.datagramsDropped &- unassignedBefore >= Self.floodThreshold
      unassignedBefore = demultiplexer.datagramsDropped
    }
    hasNewData = false
    deadline = datagrams.deadline
    let others = [
      turnEnded(now), relays?.deadline, names?.deadline, nat64?.deadline, addressesDue,
    ]
    for due in gatherers.values.map(\.deadline) + others {
      if let due { deadline = deadline.map { min($0, due) } ?? due }
    }
    // Another connection may have begun under the same id.
    for participant in ended where demultiplexer.engines[participant] == nil { participantEnded(participant) }
    poller?.changed(self, now: now)
  }

  /// Passes media to the sinks, or on like other events if the configuration has none.
  private func deliver(_ events: [MediaEvent], of participant: ParticipantID, now: MonotonicInstant) {
    if let mediaSinks {
      for sink in mediaSinks { sink.receive(events, of: participant, now: now.instant) }
      return
    }
    for event in events { emit(ParticipantEvent(participant: participant, event: .media(event), at: now)) }
  }

  private func send(
    _ datagram: ByteBuffer, from local: TransportAddress, to remote: TransportAddress, of participant: ParticipantID,
    now: MonotonicInstant
  ) {
    guard let socket = sockets[local] else {
      if local.transport == .tcp {
        let isOpen = demultiplexer.engines[participant] != nil
        tcp?.send(datagram, from: local, to: remote, of: participant, mayOpen: isOpen)
        return
      }
      relays?.send(datagram, from: local, to: remote, now: now)
      return
    }
    let isMedia = (datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) ?? 0) >= 128
    socket.write(datagram, to: remote, isEssential: !isMedia)
  }
}
