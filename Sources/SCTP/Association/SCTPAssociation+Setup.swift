package import Media
import NIOCore

extension SCTPAssociation {
  /// Sends an INIT. Both sides of a data channel transport do that, at the same time or not.
  package mutating func connect(now: MonotonicInstant) {
    guard state == .idle else { return }
    state = .cookieWait
    setupTimer.start(SCTPTiming.setupTimeout, now: now)
    sendInit()
  }

  func initChunk(tag: UInt32, initialTSN: UInt32, extra: [SCTPParameter] = []) -> InitChunk {
    InitChunk(
      initiateTag: tag, window: UInt32(clamping: options.window), initialTSN: initialTSN,
      parameters: InitChunk.supportedFeatures + extra)
  }

  private mutating func sendInit() {
    sendAlone(.initiation(initChunk(tag: localTag, initialTSN: localInitialTSN)), tag: 0)
  }

  /// Returns why an INIT or INIT ACK cannot be used.
  private func fault(of chunk: InitChunk) -> String? {
    if chunk.initiateTag == 0 { return "the initiate tag is 0" }
    if chunk.outgoingStreams == 0 || chunk.incomingStreams == 0 { return "the peer offers no streams" }
    if chunk.window < 1_500 { return "the peer's receive window has only \(chunk.window) bytes" }
    return nil
  }

  /// Answers an INIT with a cookie, which keeps nothing here (RFC 9260, 5.1, 5.2.1 and 5.2.2).
  mutating func initReceived(_ chunk: InitChunk, now: MonotonicInstant) {
    guard fault(of: chunk) == nil else {
      counted.malformedPackets += 1
      if chunk.initiateTag != 0 {
        sendAlone(.abort([ErrorCause(.invalidParameter)], tagIsReflected: false), tag: chunk.initiateTag)
      }
      return
    }
    var tag = localTag
    var initialTSN = localInitialTSN
    var tieTags: (UInt32, UInt32) = (0, 0)
    switch state {
    case .closed: return
    case .idle, .cookieWait: break
    case .cookieEchoed: tieTags = (localTag, peer?.tag ?? 0)
    case .shutdownAckSent:
      pend(.shutdownAck)
      return
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived:
      tag = Self.randomTag(&generator)
      initialTSN = UInt32(truncatingIfNeeded: generator.next())
      tieTags = (localTag, peer?.tag ?? 0)
    }
    let cookie = StateCookie(
      made: milliseconds(now), localTag: tag, localInitialTSN: initialTSN, peer: .init(chunk), tieTags: tieTags)
    var extra = [SCTPParameter(.stateCookie, cookie.encoded(key: cookieKey))]
    for parameter in chunk.parametersToReport.prefix(4) where parameter.value.readableBytes <= 128 {
      var value = ByteBuffer()
      parameter.write(into: &value)
      extra.append(SCTPParameter(.unrecognized, value))
    }
    sendAlone(
      .initiationAck(initChunk(tag: tag, initialTSN: initialTSN, extra: extra)), tag: chunk.initiateTag)
  }

  mutating func initAckReceived(_ chunk: InitChunk, now: MonotonicInstant) {
    guard state == .cookieWait else {
      counted.unexpectedChunks += 1
      return
    }
    if let fault = fault(of: chunk) {
      close(.setupRefused(fault), now: now)
      return
    }
    guard let cookie = chunk.cookie, cookie.readableBytes <= options.maximumPacketBytes - 16 else {
      abort(
        [ErrorCause(.missingParameter)], tag: chunk.initiateTag,
        reason: .setupRefused("the INIT ACK has no usable state cookie"), now: now)
      return
    }
    adopt(StateCookie.PeerParameters(chunk))
    state = .cookieEchoed(cookie)
    setupTimer.start(SCTPTiming.setupTimeout, now: now)
    sendCookieEcho(cookie)
    let reported = chunk.parametersToReport.prefix(4).filter { $0.value.readableBytes <= 128 }
    if !reported.isEmpty {
      var value = ByteBuffer()
      for parameter in reported { parameter.write(into: &value) }
      pend(.error([ErrorCause(.unrecognizedParameters, value)]))
    }
  }

  private mutating func sendCookieEcho(_ cookie: ByteBuffer) {
    sendAlone(.cookieEcho(cookie), tag: peer?.tag ?? 0)
  }

  private mutating func adopt(_ parameters: StateCookie.PeerParameters) {
    peer = parameters
    outOfOrderBytes = 0
    received = ReceivedTSNs(initialTSN: parameters.initialTSN)
    peerWindow = Int(parameters.window)
    resets = StreamResets(nextRequest: localInitialTSN, expectedRequest: parameters.initialTSN)
  }

  /// Handles a COOKIE ECHO; returns whether the rest of its packet is processed (RFC 9260, 5.1.5 and 5.2.4).
  mutating func cookieEchoReceived(_ bytes: ByteBuffer, tag: UInt32, now: MonotonicInstant) -> Bool {
    guard let cookie = StateCookie(parsing: bytes, key: cookieKey) else {
      counted.invalidCookies += 1
      return false
    }
    guard tag == cookie.localTag else {
      counted.wrongTags += 1
      return false
    }
    let isLocal = cookie.localTag == localTag
    if isConnected, isLocal, cookie.peer.tag == peer?.tag {
      // The COOKIE ACK was lost, or somebody repeats the cookie.
      pend(.cookieAck)
      return true
    }
    guard isFresh(cookie, now: now) else { return false }
    switch state {
    case .idle, .cookieWait, .cookieEchoed:
      guard isLocal else { break }
      adopt(cookie.peer)
      established(now: now)
      pend(.cookieAck)
      return true
    case .shutdownAckSent:
      pend(.shutdownAck)
      pend(.error([ErrorCause(.cookieWhileShuttingDown)]))
      return false
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived:
      guard !isLocal, cookie.peer.tag != peer?.tag, cookie.localTieTag == localTag, cookie.peerTieTag == peer?.tag
      else { break }
      restart(with: cookie, now: now)
      return true
    case .closed: break
    }
    counted.invalidCookies += 1
    return false
  }

  private mutating func isFresh(_ cookie: StateCookie, now: MonotonicInstant) -> Bool {
    let age = milliseconds(now) - cookie.made
    let lifetime = Int64(SCTPTiming.cookieLifetime.seconds * 1_000)
    if age <= lifetime { return true }
    counted.invalidCookies += 1
    // The measure of staleness is in microseconds.
    let staleness = UInt32(clamping: (age - lifetime) * 1_000)
    sendAlone(.error([ErrorCause(.staleCookie, ByteBuffer(integer: staleness))]), tag: cookie.peer.tag)
    return false
  }

  /// The peer lost its association and set up another: this side begins again as well.
  private mutating func restart(with cookie: StateCookie, now: MonotonicInstant) {
    counted = counters
    localTag = cookie.localTag
    localInitialTSN = cookie.localInitialTSN
    sendQueue.removeAll()
    outstanding = OutstandingData(nextTSN: Self.extended(localInitialTSN))
    congestion = CongestionWindow(packetBytes: options.maximumPacketBytes)
    timeout = RetransmissionTimeout()
    reassembly = ReassemblyQueue(maximumMessageBytes: reassembly.maximumMessageBytes)
    retransmissionTimer.stop()
    probe = TailProbe()
    packetsUntilAck = nil
    fastRetransmissionDue = false
    shutdownTimer.stop()
    errorCount = 0
    lastSkip = nil
    pendingChunks = []
    adopt(cookie.peer)
    state = .established
    heartbeat.start(timeout: timeout.current, now: now, using: &generator)
    pend(.cookieAck)
    emit(.restarted)
  }

  mutating func cookieAckReceived(now: MonotonicInstant) {
    if case .cookieEchoed = state { established(now: now) }
  }

  /// The peer says that our cookie came too late: a new one is requested.
  mutating func staleCookieReported(now: MonotonicInstant) {
    guard case .cookieEchoed = state, staleCookies < 3 else { return }
    staleCookies += 1
    state = .cookieWait
    setupTimer.start(SCTPTiming.setupTimeout, now: now)
    sendInit()
  }

  private mutating func established(now: MonotonicInstant) {
    state = .established
    setupTimer.stop()
    heartbeat.start(timeout: timeout.current, now: now, using: &generator)
    emit(.connected)
  }

  /// Sends INIT or COOKIE ECHO again when its timer expires.
  mutating func checkSetupTimer(now: MonotonicInstant) {
    guard setupTimer.expires(now: now) else { return }
    if let limit = options.maximumSetupRetransmissions, setupTimer.expirations > limit {
      close(.setupTimedOut(attempts: setupTimer.expirations), now: now)
      return
    }
    switch state {
    case .cookieWait: sendInit()
    case .cookieEchoed(let cookie): sendCookieEcho(cookie)
    default: setupTimer.stop()
    }
  }

  /// The time since the association was made, in milliseconds.
  func milliseconds(_ now: MonotonicInstant) -> Int64 { Int64(((now - made).seconds * 1_000).rounded()) }
}
