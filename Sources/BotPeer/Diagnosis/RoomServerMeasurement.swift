internal import Glibc
internal import ICE
internal import Media
internal import NIOCore

/// Connects to a room server: TCP, TLS, and a WebSocket or an HTTP answer.
struct RoomServerMeasurement: Sendable {
  let server: RoomServerAddress
  let addresses: [TransportAddress]
  let loop: any EventLoop
  let start: MonotonicInstant
  let timeout: Duration
  let caCertificate: String?

  /// How many addresses of the name are tried.
  private static let maximumAddresses = 4

  /// One exchange on a connection of its own.
  private struct Exchange {
    var connectTime: Double?
    var tlsTime: Double?
    var answerTime: Double?
    var certificate: CertificateDiagnosis?
    var head: HTTPHead?
    var clockOffset: RoomServerDiagnosis.ClockOffset?
    var reason: String?
  }

  func result() async -> RoomServerDiagnosis {
    var result = RoomServerDiagnosis(address: server.shown)
    let end = start + timeout
    guard !addresses.isEmpty else {
      result.failure = "The name \(server.host.printable()) has no address."
      return result
    }
    var exchange = Exchange()
    let tried = addresses.prefix(Self.maximumAddresses)
    for (index, address) in tried.enumerated() {
      result.resolved = "\(address)"
      let share = (end - .now) / (tried.count - index)
      exchange = await self.exchange(with: address, upgrading: server.isWebSocket, by: .now + share)
      if exchange.connectTime == nil { continue }
      if exchange.head != nil, exchange.clockOffset == nil {
        // The answer to a request for a WebSocket often has no `Date`.
        exchange.clockOffset = await self.exchange(with: address, upgrading: false, by: end).clockOffset
      }
      break
    }
    result.connectTime = exchange.connectTime
    result.tlsTime = exchange.tlsTime
    result.answerTime = exchange.answerTime
    result.certificate = exchange.certificate
    result.clockOffset = exchange.clockOffset
    result.answer = exchange.head.map { $0.status == 101 ? "WebSocket" : "HTTP \($0.status)" }
    result.failure = failure(exchange)
    return result
  }

  private func failure(_ exchange: Exchange) -> String? {
    let reason = exchange.reason.map { ": \($0)" } ?? ""
    if exchange.connectTime == nil { return "The room server does not accept a connection\(reason)." }
    if let certificate = exchange.certificate, !certificate.isTrusted {
      return "The certificate of the room server is not trusted: \(certificate.problem ?? "no reason given")."
    }
    if server.isSecure, exchange.tlsTime == nil { return "The room server does not speak TLS here\(reason)." }
    guard let head = exchange.head else { return "The room server sent no HTTP answer\(reason)." }
    if server.isWebSocket, head.status != 101 {
      return "The room server answered \(head.status) instead of opening a WebSocket: check the path of the address."
    }
    return head.status >= 500 ? "The room server answered with the error \(head.status)." : nil
  }

  private func exchange(
    with address: TransportAddress, upgrading: Bool, by end: MonotonicInstant
  ) async -> Exchange {
    var exchange = Exchange()
    let inbox = ProbeInbox(on: loop)
    var reader = inbox.reader()
    var step = MonotonicInstant.now
    var received = ByteBuffer()
    let trust = server.isSecure ? ProbeStream.Trust(host: server.host, caCertificate: caCertificate) : nil
    let stream = ProbeStream(to: address, trust: trust, number: 0, by: end, inbox)
    defer { stream.close() }
    func sendRequest() { stream.write(ByteBuffer(string: server.request(upgrading: upgrading))) }
    while true {
      guard case .stream(_, let event) = await reader.next(by: end) else {
        guard MonotonicInstant.now < end else {
          exchange.reason = "no answer in time"
          return exchange
        }
        continue
      }
      switch event {
      case .connected(let time):
        exchange.connectTime = (time - step).tenthsOfMilliseconds
        step = time
        if trust == nil { sendRequest() }
      case .certificate(let certificate): exchange.certificate = certificate
      case .secured(let time):
        exchange.tlsTime = (time - step).tenthsOfMilliseconds
        step = time
        sendRequest()
      case .bytes(var bytes, let time):
        received.writeBuffer(&bytes)
        switch HTTPHead.parse(received) {
        case .incomplete: continue
        case .invalid:
          exchange.reason = "what arrived is not HTTP"
          return exchange
        case .complete(let head):
          exchange.head = head
          exchange.answerTime = (time - step).tenthsOfMilliseconds
          exchange.clockOffset = Self.clockOffset(head, trip: time - step)
          return exchange
        }
      case .closed(let reason):
        exchange.reason = reason ?? "the server closed the connection"
        return exchange
      }
    }
  }

  /// The server wrote the date between the request and the answer, and cut it to whole seconds.
  private static func clockOffset(_ head: HTTPHead, trip: Duration) -> RoomServerDiagnosis.ClockOffset? {
    guard let date = head.date else { return nil }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return clockOffset(
      serverDate: date, arrival: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9,
      trip: trip.tenthsOfMilliseconds / 1_000)
  }

  static func clockOffset(serverDate: Int, arrival: Double, trip: Double) -> RoomServerDiagnosis.ClockOffset {
    let ours = arrival - trip / 2
    func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    return .init(
      seconds: tenths(Double(serverDate) + 0.5 - ours), bound: max(0.1, (5 + trip * 5).rounded(.up) / 10))
  }
}

/// The status line and the `Date` of an HTTP/1.1 answer (RFC 9112, 4).
struct HTTPHead: Sendable, Hashable {
  var status: Int
  /// Seconds since 1970.
  var date: Int?

  enum Parsing: Sendable, Hashable {
    case incomplete
    case invalid
    case complete(HTTPHead)
  }

  /// The longest head that is read.
  static let maximumBytes = 16_384

  static func parse(_ bytes: ByteBuffer) -> Parsing {
    let text = String(decoding: bytes.readableBytesView.prefix(maximumBytes), as: UTF8.self)
    let prefix = "HTTP/1."
    guard text.hasPrefix(prefix) || prefix.hasPrefix(text) else { return .invalid }
    // A CR and LF are one character.
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let end = lines.dropFirst().firstIndex(of: ""), end < lines.count - 1 else {
      return bytes.readableBytes >= maximumBytes ? .invalid : .incomplete
    }
    let words = lines[0].split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]), (100...599).contains(status) else {
      return .invalid
    }
    let date = lines[1..<end].lazy.compactMap { line -> Int? in
      guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "date" else { return nil }
      return WallClockText.seconds(ofHTTPDate: line[line.index(after: colon)...])
    }.first
    return .complete(HTTPHead(status: status, date: date))
  }
}
