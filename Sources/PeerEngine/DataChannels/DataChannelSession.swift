internal import Media
internal import NIOCore
internal import SCTP

/// The data channels of one connection: sets up an association when both sides agreed on one and DTLS is established, and
/// replaces it when DTLS begins again.
///
/// It is used as the media session is: after each call and each datagram, ``poll(canSend:now:)`` returns what to send and what has
/// happened.
struct DataChannelSession: Sendable {
  /// How many requested channels wait for the association.
  static let maximumRequests = 256
  /// The largest message that is sent where the participant sets no limit.
  private static let unlimitedMessageBytes: UInt64 = 16 << 20

  private struct Request: Sendable {
    var configuration: DataChannelConfiguration
    var token: Int?
  }

  private let options: DataChannelOptions?
  private var negotiated: NegotiatedData?
  private var role: DTLSRole?
  private var transport: DataChannelTransport?
  private var requests: [Request] = []
  private var hasRequestedOptions = false
  private var pending: [DataChannelAction] = []
  /// The channels whose messages wait to be sent, with the amount that was last reported.
  private var bufferedAmounts: [UInt16: Int] = [:]
  private var isTouched = false
  private var hasEnded = false
  /// The packets received since the last poll, and those to send with the next.
  private var packetsReceived = 0
  private var lastReceived: MonotonicInstant?
  /// How long after received data more of it is expected.
  private static let busyTime = Duration.milliseconds(500)
  private static let smallPacketBytes = 200
  private var outgoing: [ByteBuffer] = []
  /// Whether the last exchange of descriptions agreed on no data channels.
  private var isRefused = false
  private static let refusal = "The connection has no data channels."
  /// Whether received messages stay in the association, which then stops the participant from sending more.
  private var isReadingPaused = false
  /// Sentences about an association that ended too early.
  private var problems: [String] = []

  init(options: DataChannelOptions?) {
    self.options = options
  }

  // MARK: Setup

  /// Applies what offer and answer agreed on.
  ///
  /// - Parameter isOfferer: whether the offer was ours.
  mutating func configure(_ negotiated: NegotiatedData?, isOfferer: Bool, now: MonotonicInstant) {
    guard let options, !hasEnded else { return }
    if let negotiated {
      if !hasRequestedOptions, isOfferer || options.opensWhenAnswering {
        requests.insert(contentsOf: options.opened.map { Request(configuration: $0) }, at: 0)
      }
      hasRequestedOptions = true
      self.negotiated = negotiated
      begin(now: now)
      isRefused = false
    } else {
      isRefused = true
      self.negotiated = nil
      transport?.abort(now: now)
      closeAll(because: Self.refusal)
    }
  }

  /// Begins with a DTLS connection; channels of a former one are closed.
  mutating func secured(role: DTLSRole, now: MonotonicInstant) {
    if transport != nil { closeAll(because: "The participant has begun a new connection.") }
    self.role = role
    begin(now: now)
  }

  private mutating func begin(now: MonotonicInstant) {
    guard let negotiated, let role, transport == nil, !hasEnded else { return }
    var settings = SCTPAssociation.Options()
    settings.localPort = negotiated.localPort
    settings.peerPort = negotiated.remotePort
    settings.maximumMessageBytes = options?.maximumMessageBytes ?? settings.maximumMessageBytes
    settings.peerMaximumMessageBytes = Int(limits.maximumMessageBytes)
    // ICE notices a participant who is gone.
    settings.maximumRetransmissions = nil
    settings.maximumSetupRetransmissions = nil
    var transport = DataChannelTransport(role: role == .client ? .dtlsClient : .dtlsServer, options: settings, now: now)
    transport.connect(now: now)
    self.transport = transport
    isTouched = true
    let waiting = requests
    requests = []
    for request in waiting { open(request, now: now) }
  }

  private var limits: DataChannelLimits {
    let announced = negotiated?.remoteMaximumMessageBytes ?? 0
    let bytes = announced == 0 ? Self.unlimitedMessageBytes : min(announced, Self.unlimitedMessageBytes)
    return DataChannelLimits(maximumMessageBytes: Int(bytes))
  }

  // MARK: Calls

  /// Opens a channel now or when there is an association.
  mutating func open(_ configuration: DataChannelConfiguration, token: Int?, now: MonotonicInstant) {
    let request = Request(configuration: configuration, token: token)
    if hasEnded || options == nil || isRefused {
      refuse(request, because: Self.refusal)
    } else if transport != nil {
      open(request, now: now)
    } else if requests.count >= Self.maximumRequests {
      refuse(request, because: "\(requests.count) data channels wait for the connection already.")
    } else {
      requests.append(request)
    }
  }

  private mutating func open(_ request: Request, now: MonotonicInstant) {
    do {
      guard let id = try transport?.open(request.configuration, now: now) else { return }
      pending.append(.opening(id, request.configuration, token: request.token, limits: limits))
      isTouched = true
    } catch {
      refuse(request, because: error.description)
    }
  }

  private mutating func refuse(_ request: Request, because sentence: String) {
    if let token = request.token { pending.append(.refused(token: token, sentence)) }
    isTouched = true
  }

  /// Sends a message. If that is impossible, the channel is closed, because a message must not be missing unnoticed.
  mutating func send(_ message: DataChannelMessage, on id: UInt16, now: MonotonicInstant) {
    isTouched = true
    guard transport?[id] != nil else { return }
    do {
      try transport?.send(message, on: id, now: now)
      if bufferedAmounts[id] == nil { bufferedAmounts[id] = 0 }
    } catch {
      problems.append("A message was not sent, and its data channel is closed: \(error.description)")
      transport?.close(id, now: now)
    }
  }

  mutating func close(_ id: UInt16, now: MonotonicInstant) {
    isTouched = true
    transport?.close(id, now: now)
  }

  mutating func setReadingPaused(_ isPaused: Bool) {
    guard isPaused != isReadingPaused else { return }
    isReadingPaused = isPaused
    isTouched = true
  }

  /// Handles decrypted data.
  mutating func receive(_ data: ByteBuffer, now: MonotonicInstant) {
    isTouched = true
    transport?.receive(data, now: now)
    packetsReceived += 1
    // The smallest packets are acknowledgements and heartbeats.
    if data.readableBytes > Self.smallPacketBytes { lastReceived = now }
    // Datagrams are read many at a time, but each second packet is acknowledged (RFC 9260, 6.2): some senders send only four
    // packets for each acknowledgement.
    guard packetsReceived.isMultiple(of: 2), outgoing.count < Self.maximumOutgoing else { return }
    takePackets(now: now)
  }

  /// How many packets are made between two polls.
  private static let maximumOutgoing = 256

  /// Ends everything; the next ``takeActions()`` has the last actions.
  mutating func end() {
    hasEnded = true
    closeAll(because: "The connection has ended.")
  }

  // MARK: Polling

  /// When ``poll(canSend:now:)`` must be called even if nothing arrives. Stored, because it is asked for with every packet of media.
  private(set) var deadline: MonotonicInstant?

  /// Whether data is on its way, so that what arrives should be read soon: acknowledgements set the pace of the sender.
  private(set) var isBusy = false

  /// Returns the packets to send now; nil if nothing is due, and nothing has happened.
  ///
  /// - Parameter canSend: whether there is a path and DTLS is established.
  mutating func poll(canSend: Bool, now: MonotonicInstant) -> [ByteBuffer]? {
    guard isTouched || Deadline.isDue(deadline, now: now) else {
      if isBusy { updateBusy(now: now) }
      return nil
    }
    guard canSend else { return [] }
    isTouched = false
    packetsReceived = 0
    takePackets(now: now)
    reportBufferedAmounts()
    deadline = transport?.deadline
    updateBusy(now: now)
    defer { outgoing = [] }
    return outgoing
  }

  /// Updates ``isBusy``.
  private mutating func updateBusy(now: MonotonicInstant) {
    isBusy = !bufferedAmounts.isEmpty || lastReceived.map { now - $0 < Self.busyTime } ?? false
  }

  private mutating func takePackets(now: MonotonicInstant) {
    takeEvents(now: now)
    if let packets = transport?.takePackets(now: now) { outgoing += packets }
    takeEvents(now: now)
  }

  mutating func takeActions() -> [DataChannelAction] {
    if pending.isEmpty { return [] }
    defer { pending.removeAll(keepingCapacity: true) }
    return pending
  }

  mutating func takeProblems() -> [String] {
    if problems.isEmpty { return [] }
    defer { problems.removeAll() }
    return problems
  }

  private mutating func takeEvents(now: MonotonicInstant) {
    while !isReadingPaused, let event = transport?.nextEvent(now: now) {
      switch event {
      case .connected, .bufferedAmountLow: break
      case .openedByPeer(let id, let configuration):
        pending.append(.openedByParticipant(id, configuration, limits: limits))
      case .opened(let id): pending.append(.opened(id))
      case .message(let id, let message): pending.append(.message(id, message))
      case .closed(let id):
        bufferedAmounts[id] = nil
        pending.append(.closed(id))
      case .disconnected(let reason):
        problems.append("The data channels have ended: \(reason).")
        transport = nil
        hasEnded = true
        closeAll(because: "The data channels have ended.")
        return
      }
    }
  }

  private mutating func reportBufferedAmounts() {
    for (id, reported) in bufferedAmounts {
      let amount = transport?.bufferedAmount(of: id) ?? 0
      if amount != reported || amount == 0 { pending.append(.bufferedAmount(id, amount)) }
      bufferedAmounts[id] = amount == 0 ? nil : amount
    }
  }

  private mutating func closeAll(because sentence: String) {
    for channel in transport?.openChannels ?? [] { pending.append(.closed(channel.id)) }
    let waiting = requests
    requests = []
    for request in waiting { refuse(request, because: sentence) }
    transport = nil
    deadline = nil
    bufferedAmounts = [:]
    isTouched = true
  }
}
