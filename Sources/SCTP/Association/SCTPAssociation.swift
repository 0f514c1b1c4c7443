package import Media
import NIOCore

/// One SCTP association over a secure datagram transport (RFC 9260, 3758, 6525, 8261).
///
/// It has no socket and no clock. The owner passes decrypted datagrams to ``receive(_:now:)``, calls what it wants, and
/// after each of these takes the events with ``nextEvent(now:)`` until there is none, then the datagrams to send with
/// ``takePackets(now:)``, and calls ``takePackets(now:)`` again at ``deadline``. Events that are not taken count against
/// the receive window, so a slow reader slows the sender.
///
/// ```
///          connect                 INIT ACK                   COOKIE ACK
///   idle ───────────► cookieWait ───────────► cookieEchoed ───────────────► established
///    │   COOKIE ECHO       │   COOKIE ECHO         │   COOKIE ECHO               ▲
///    └─────────────────────┴───────────────────────┴─────────────────────────────┘
///
///   established ── shutdown ──► shutdownPending ── all acknowledged ──► shutdownSent ── SHUTDOWN ACK ──► closed
///        │                           │ SHUTDOWN                            │ SHUTDOWN
///        └──────── SHUTDOWN ─────────┴──► shutdownReceived ──────────────► shutdownAckSent ── COMPLETE ─► closed
/// ```
///
/// Left out on purpose: several addresses of a peer (RFC 8261, 6 forbids them), interleaving of messages (RFC 8260),
/// partial delivery, ECN, PMTU discovery, adding streams and resetting TSNs (refused), data in the packet of a COOKIE
/// ECHO.
package struct SCTPAssociation: Sendable {
  package struct Options: Sendable, Hashable {
    package var localPort: UInt16 = 5_000
    package var peerPort: UInt16 = 5_000
    /// The maximum length of a packet in bytes: what is left of a datagram beside the DTLS record.
    package var maximumPacketBytes = SCTPLimits.maximumDatagramBytes - SCTPLimits.recordOverhead
    /// The maximum size of a received message in bytes, at most 16 MiB; a larger one is dropped.
    package var maximumMessageBytes = SCTPLimits.announcedMessageBytes
    /// The maximum size of a message that the peer accepts, from its description; 65,536 if it names none (RFC 8841).
    package var peerMaximumMessageBytes = 65_536
    /// The memory for received data in bytes, at least 4,096 and more than the maximum message size; nil for one that
    /// suits that size.
    package var receiveWindow: Int?
    /// The maximum number of bytes that wait to be sent.
    package var sendBufferBytes = SCTPLimits.sendBufferBytes
    /// Association.Max.Retrans: timeouts in a row before the peer counts as unreachable; nil for no limit, if another
    /// layer notices that.
    package var maximumRetransmissions: Int? = 10
    /// Max.Init.Retransmits; nil for no limit.
    package var maximumSetupRetransmissions: Int? = 8

    package init() {}

    /// The receive window with its limits applied.
    var window: Int {
      let messageBytes = min(maximumMessageBytes, SCTPLimits.maximumMessageBytes)
      let window = receiveWindow ?? max(4 << 20, 2 * messageBytes)
      return max(4_096, min(window, SCTPLimits.maximumReceiveWindow))
    }
  }

  enum State: Sendable, Hashable {
    case idle
    case cookieWait
    case cookieEchoed(ByteBuffer)
    case established
    case shutdownPending
    case shutdownSent
    case shutdownReceived
    case shutdownAckSent
    case closed(SCTPCloseReason)
  }

  package let options: Options
  var state = State.idle
  var generator: any RandomNumberGenerator & Sendable
  let cookieKey: StateCookie.Key
  /// The origin of times in cookies and heartbeats.
  let made: MonotonicInstant

  var localTag: UInt32
  var localInitialTSN: UInt32
  /// What the peer's INIT or INIT ACK said; nil until the association is set up.
  var peer: StateCookie.PeerParameters?

  // Sending.
  var sendQueue = SendQueue()
  var outstanding: OutstandingData
  var congestion: CongestionWindow
  var timeout = RetransmissionTimeout()
  /// The window of the peer's last SACK.
  var peerWindow = 0
  /// Whether the next retransmission may exceed the congestion window (RFC 9260, 7.2.4).
  var fastRetransmissionDue = false
  /// After a timeout: how many packets with data may be sent until the next SACK; nil for no limit.
  var packetsUntilAck: Int?
  var probe = TailProbe()
  /// The cumulative TSN of the last FORWARD TSN.
  var lastSkip: UInt32?
  var lastDataSent: MonotonicInstant?

  // Receiving.
  var received = ReceivedTSNs(initialTSN: 1)
  var reassembly: ReassemblyQueue
  /// The memory of chunks that arrived out of order since none was missing; at least the memory of those kept.
  var outOfOrderBytes = 0
  var events = CircularBuffer<SCTPEvent>()
  /// The memory of the messages among the events.
  var eventBytes = 0
  /// The window of our last SACK.
  var announcedWindow: Int

  // Control.
  var setupTimer = BackoffTimer()
  var staleCookies = 0
  var shutdownTimer = BackoffTimer()
  /// T3-rtx.
  var retransmissionTimer = BackoffTimer()
  var heartbeat = Heartbeat()
  var resets = StreamResets()
  /// Timeouts since the peer last acknowledged something.
  var errorCount = 0
  var pendingChunks: [SCTPChunk] = []
  var pendingPackets: [ByteBuffer] = []
  var counted = SCTPCounters()

  /// - Parameters:
  ///   - generator: gives tags, TSNs and the key of cookies, which must be secret.
  ///   - now: any time not after that of other calls.
  package init(
    options: Options = Options(), generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    now: MonotonicInstant
  ) {
    var generator: any RandomNumberGenerator & Sendable = generator
    var options = options
    options.maximumPacketBytes = max(256, min(options.maximumPacketBytes, 65_536))
    self.options = options
    made = now
    cookieKey = StateCookie.Key(low: generator.next(), high: generator.next())
    localTag = Self.randomTag(&generator)
    localInitialTSN = UInt32(truncatingIfNeeded: generator.next())
    outstanding = OutstandingData(nextTSN: Self.extended(localInitialTSN))
    congestion = CongestionWindow(packetBytes: options.maximumPacketBytes)
    reassembly = ReassemblyQueue(
      maximumMessageBytes: min(options.maximumMessageBytes, SCTPLimits.maximumMessageBytes))
    announcedWindow = options.window
    self.generator = generator
  }

  static func randomTag(_ generator: inout any RandomNumberGenerator & Sendable) -> UInt32 {
    UInt32(truncatingIfNeeded: generator.next()) | 1
  }

  /// The first extended TSN; far above zero, so that extended numbers stay positive.
  static func extended(_ initialTSN: UInt32) -> Int64 { (1 << 32) + Int64(initialTSN) }

  package var isConnected: Bool {
    switch state {
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent: true
    case .idle, .cookieWait, .cookieEchoed, .closed: false
    }
  }

  package var closeReason: SCTPCloseReason? {
    if case .closed(let reason) = state { reason } else { nil }
  }

  /// The bytes of all messages, or of those of one stream, that were not sent even once.
  package var bufferedAmount: Int { sendQueue.bytes }
  package func bufferedAmount(of stream: UInt16) -> Int { sendQueue.bufferedBytes(of: stream) }
  /// The bytes that were sent and not acknowledged.
  package var bytesInFlight: Int { outstanding.flightBytes }
  package var congestionWindow: Int { congestion.size }
  package var smoothedRoundTrip: Duration? { timeout.smoothed }
  /// The memory for received data that is incomplete, out of order, or not taken yet, in bytes.
  package var receiveMemory: Int { reassembly.heldBytes + eventBytes }

  /// The sent chunks that are not acknowledged cumulatively, and the packets and control chunks that wait to be sent.
  package var queuedEntries: (chunks: Int, packets: Int, controls: Int) {
    (outstanding.count, pendingPackets.count, pendingChunks.count)
  }
  /// The number of kept chunks, ranges, messages and streams that were looked at so far: the work beyond what the
  /// length of the packets causes.
  package var visits: Int { outstanding.visits + reassembly.visits + received.visits }

  package var counters: SCTPCounters {
    var counters = counted
    counters.chunksRetransmitted += outstanding.retransmissions
    counters.messagesAbandoned += outstanding.abandonedMessages + sendQueue.expired
    counters.messagesOnRefusedStreams += reassembly.refusedMessages
    counters.staleMessages += reassembly.staleMessages
    counters.skippedMessages += reassembly.skippedMessages
    return counters
  }

  /// Removes and returns the next event.
  package mutating func nextEvent(now: MonotonicInstant) -> SCTPEvent? {
    guard let event = events.popFirst() else { return nil }
    if case .message(let message) = event {
      eventBytes -= Self.cost(of: message)
      announceOpenedWindow(now: now)
    }
    return event
  }

  static func cost(of message: SCTPMessage) -> Int { message.payload.readableBytes + SCTPLimits.entryOverhead }

  var window: Int { max(0, options.window - receiveMemory) }

  /// Sends a SACK when the reader has made room in a window that was nearly closed.
  private mutating func announceOpenedWindow(now: MonotonicInstant) {
    guard isConnected, announcedWindow < min(options.window / 4, 4 * options.maximumPacketBytes),
      window >= options.window / 2
    else { return }
    received.acknowledgeNow(now)
  }
}
