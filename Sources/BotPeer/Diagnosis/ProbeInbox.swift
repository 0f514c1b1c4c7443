internal import ICE
internal import Media
internal import NIOCore

/// What happened to the sockets of a measurement.
enum ProbeInput: Sendable {
  case datagram(ByteBuffer, from: TransportAddress, at: NATBehaviorProbe.Origin, time: MonotonicInstant)
  /// An event of the stream with this number.
  case stream(Int, ProbeStreamEvent)
  /// The time to wait for is over.
  case timer
}

enum ProbeStreamEvent: Sendable {
  case connected(MonotonicInstant)
  case certificate(CertificateDiagnosis)
  case secured(MonotonicInstant)
  case bytes(ByteBuffer, MonotonicInstant)
  /// The connection was not established, or has ended: the reason as a clause, or nil if the server closed it.
  case closed(String?)
}

/// The events of all sockets of one measurement, for one reader. When 256 wait, further ones are dropped.
struct ProbeInbox: Sendable {
  let loop: any EventLoop
  private let events: AsyncStream<ProbeInput>
  private let continuation: AsyncStream<ProbeInput>.Continuation

  init(on loop: any EventLoop) {
    self.loop = loop
    (events, continuation) = AsyncStream.makeStream(of: ProbeInput.self, bufferingPolicy: .bufferingOldest(256))
  }

  func add(_ input: ProbeInput) { continuation.yield(input) }

  func reader() -> Reader { Reader(iterator: events.makeAsyncIterator(), inbox: self) }

  struct Reader {
    var iterator: AsyncStream<ProbeInput>.Iterator
    let inbox: ProbeInbox

    /// Returns the next event, or ``ProbeInput/timer`` at the deadline, which may also come too early.
    mutating func next(by deadline: MonotonicInstant) async -> ProbeInput {
      let timer = inbox.loop.scheduleTask(in: TimeAmount(max(.zero, deadline - .now))) { [inbox] in inbox.add(.timer) }
      defer { timer.cancel() }
      return await iterator.next() ?? .timer
    }
  }
}

extension Duration {
  /// Milliseconds with one decimal.
  var tenthsOfMilliseconds: Double {
    let (seconds, attoseconds) = components
    return ((Double(seconds) * 1_000 + Double(attoseconds) / 1e15) * 10).rounded() / 10
  }
}
