internal import ICE
internal import Media
internal import NIOCore

/// Requests an allocation of a TURN server over one transport, and sends data through it.
///
/// The data is sent from the relayed address to itself. If that has not come back after 0.7 s, another UDP socket
/// sends to the relayed address as well, because some servers do not send to themselves.
struct TURNServerMeasurement {
  private let url: ICEServerURL
  private let server: TransportAddress
  private let loop: any EventLoop
  private let start: MonotonicInstant
  private let end: MonotonicInstant
  private let caCertificate: String?
  private let sources: SourceAddresses
  private let inbox: ProbeInbox
  private var client: TURNClient
  private var result: TURNServerDiagnosis

  private var datagrams: ProbeDatagrams?
  private var stream: ProbeStream?
  private var streams = 0
  private var isConnected = false
  private var lastReason: String?
  /// A UDP socket that sends to the relayed address.
  private var otherSocket: ProbeDatagrams?
  private var dataTest: DataTest?

  private struct DataTest {
    let begin: MonotonicInstant
    let relayed: TransportAddress
    /// Distinguishes our data from that of others.
    let key: UInt64
    var nextRound: MonotonicInstant
  }

  private static let fromItself: UInt8 = 1
  private static let fromOtherSocket: UInt8 = 2
  private static let dataPatience = Duration.milliseconds(2_500)

  init(
    _ url: ICEServerURL, at server: TransportAddress, credentials: TURNCredentials, _ result: TURNServerDiagnosis,
    on loop: any EventLoop, start: MonotonicInstant, timeout: Duration, caCertificate: String?,
    sources: SourceAddresses, nat64: NAT64Prefix?
  ) {
    self.url = url
    self.server = server
    self.loop = loop
    self.start = start
    end = start + timeout
    self.caCertificate = caCertificate
    self.sources = sources
    self.result = result
    self.result.address = "\(server)"
    inbox = ProbeInbox(on: loop)
    client = TURNClient(
      server: server, transport: url.transport == .udp ? .udp : .stream, credentials: credentials, families: .both,
      now: .now)
    client.nat64 = nat64
  }

  mutating func measured() async -> TURNServerDiagnosis {
    await open(server)
    var reader = inbox.reader()
    while result.failure == nil, result.returnsData == nil {
      await poll()
      let now = MonotonicInstant.now
      guard result.failure == nil, result.returnsData == nil else { break }
      if now >= end || dataTest.map({ now - $0.begin >= Self.dataPatience }) ?? false {
        giveUp()
        break
      }
      var wake = min(end, client.deadline ?? end)
      if let dataTest { wake = min(wake, dataTest.nextRound, dataTest.begin + Self.dataPatience) }
      receive(await reader.next(by: wake))
    }
    client.leave(now: .now)
    for action in client.poll(now: .now) { if case .send(let bytes) = action { write(bytes) } }
    datagrams?.close()
    stream?.close()
    otherSocket?.close()
    return result
  }

  // MARK: The connection to the server

  private mutating func open(_ address: TransportAddress) async {
    datagrams?.close()
    stream?.close()
    let local: ProbeSource
    do {
      local = try ProbeSource(toward: address, of: sources)
    } catch {
      result.failure = "There is no route to the TURN server: \(error.reason)."
      return
    }
    if url.transport != .udp {
      streams += 1
      isConnected = false
      let trust = url.transport == .tls ? ProbeStream.Trust(host: url.host, caCertificate: caCertificate) : nil
      stream = ProbeStream(to: address, from: local, trust: trust, number: streams, by: end, inbox)
      return
    }
    do {
      datagrams = try await ProbeDatagrams(at: local, as: .mapping, inbox)
    } catch {
      result.failure = "No UDP socket could be opened: \(ProbeStream.reason(error))."
    }
  }

  private func write(_ bytes: ByteBuffer) {
    datagrams?.send(bytes, to: client.server)
    stream?.write(bytes)
  }

  private mutating func receive(_ input: ProbeInput) {
    switch input {
    case .datagram(let datagram, let source, .mapping, let time):
      if source == client.server { client.received(datagram, now: time) }
    case .stream(streams, let event):
      switch event {
      case .connected: isConnected = true
      case .certificate(let certificate): result.certificate = certificate
      case .secured: break
      case .bytes(let bytes, let time): client.received(stream: bytes, now: time)
      case .closed(let reason):
        lastReason = reason
        client.closed(now: .now)
      }
    case .datagram, .stream, .timer: break
    }
  }

  private mutating func poll() async {
    await continueDataTest()
    for action in client.poll(now: .now) {
      switch action {
      case .send(let bytes): write(bytes)
      case .connect(let address): await open(address)
      case .allocated(let allocation): await allocated(allocation)
      case .received(let data, _): received(data)
      case .failed(let failure):
        result.hasAnswered = failure.isAnswer
        result.failure = sentence(failure)
      case .lost(let loss) where result.returnsData == nil: endDataTest(returned: false, "\(loss)")
      case .peerRefused(let address, let code):
        if dataTest?.relayed.ip == address {
          result.dataTest = "the server refuses to send to \(address) (error \(code))"
        }
      case .lost, .ended: break
      }
    }
  }

  private func sentence(_ failure: TURNFailure) -> String {
    guard failure == .connectionClosed else { return "\(failure)" }
    if let certificate = result.certificate, !certificate.isTrusted {
      return "The certificate of the TURN server is not trusted: \(certificate.problem ?? "no reason given")."
    }
    let reason = lastReason.map { ": \($0)" } ?? ""
    return isConnected
      ? "The connection to the TURN server ended before it answered\(reason)."
      : "The TURN server does not accept a connection\(reason)."
  }

  private mutating func giveUp() {
    if result.isAllocated { return endDataTest(returned: false, nil) }
    if url.transport != .udp, !isConnected {
      result.failure = "The TURN server does not accept a connection: no answer within \(Self.seconds(end - start)) s."
    } else {
      result.failure = "The TURN server has not answered for \(Self.seconds(end - start)) s."
    }
  }

  private static func seconds(_ duration: Duration) -> Int { max(1, Int((duration / .seconds(1)).rounded())) }

  // MARK: Data

  private mutating func allocated(_ allocation: TURNClient.Allocation) async {
    guard !result.isAllocated, let relayed = allocation.relayed.first else { return }
    let now = MonotonicInstant.now
    result.hasAnswered = true
    result.isAllocated = true
    result.allocationTime = (now - start).tenthsOfMilliseconds
    result.relayed = allocation.relayed.map(\.description)
    result.mapped = "\(allocation.mapped)"
    dataTest = DataTest(begin: now, relayed: relayed, key: .random(in: .min ... .max), nextRound: now)
    // The permission for the other socket, which has our address.
    if allocation.mapped.family == relayed.family {
      client.send(payload(Self.fromItself), to: allocation.mapped, now: now)
    }
    await continueDataTest()
  }

  private func payload(_ origin: UInt8) -> ByteBuffer {
    var payload = ByteBuffer()
    payload.writeMultipleIntegers(dataTest?.key ?? 0, origin)
    return payload
  }

  private mutating func continueDataTest() async {
    let now = MonotonicInstant.now
    guard let test = dataTest, test.nextRound <= now, result.returnsData == nil else { return }
    dataTest?.nextRound = now + .milliseconds(350)
    client.send(payload(Self.fromItself), to: test.relayed, now: now)
    guard now - test.begin >= .milliseconds(700) else { return }
    if otherSocket == nil, let local = try? ProbeSource(toward: test.relayed, of: sources) {
      otherSocket = try? await ProbeDatagrams(at: local, as: .filtering, inbox)
    }
    otherSocket?.send(payload(Self.fromOtherSocket), to: test.relayed)
  }

  private mutating func received(_ data: ByteBuffer) {
    var data = data
    guard let (key, origin) = data.readMultipleIntegers(as: (UInt64, UInt8).self), let dataTest, key == dataTest.key
    else {
      return
    }
    endDataTest(
      returned: true,
      origin == Self.fromOtherSocket
        ? "data of a UDP socket of this machine came through the relay"
        : "data that the relay sent to itself came back")
  }

  private mutating func endDataTest(returned: Bool, _ test: String?) {
    result.returnsData = returned
    result.dataTest =
      test ?? result.dataTest
      ?? "neither data that the relay sent to itself nor data of a UDP socket of this machine arrived"
  }
}
