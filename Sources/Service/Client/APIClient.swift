import FoundationEssentials
package import JSON
import Media
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OptionValues

/// A client of the API, for the command line. One connection for each request.
package struct APIClient: Sendable {
  /// Why there is no answer that can be used.
  package enum Failure: Error, Sendable, CustomStringConvertible {
    /// A sentence.
    case unreachable(String)
    /// The service answered with a problem.
    case refused(status: Int, sentence: String)
    case unusable

    package var description: String {
      switch self {
      case .unreachable(let sentence): sentence
      case .refused(let status, let sentence): "\(sentence) (\(status))"
      case .unusable: "The answer of the service cannot be read."
      }
    }
  }

  package struct Answer: Sendable {
    package var status: Int
    package var headers: [String: String]
    package var body: [UInt8]
  }

  /// `http` or `https`, host and port.
  package let host: String
  package let port: Int
  package let isSecure: Bool
  private let token: String
  /// A PEM file of CA certificates; nil for those of the system.
  private let ca: String?

  private static let maximumBody = 64 << 20
  private static let timeout = TimeAmount.seconds(30)

  /// - Parameter url: such as `http://127.0.0.1:8080`.
  package init(url: String, token: String, ca: String? = nil) throws(Failure) {
    let isSecure = url.utf8.starts(with: "https://".utf8)
    guard isSecure || url.utf8.starts(with: "http://".utf8) else {
      throw .unreachable("The address of the service begins with http:// or https://.")
    }
    var rest = String(url.dropFirst(isSecure ? 8 : 7))
    if rest.hasSuffix("/") { rest.removeLast() }
    let hasPort = rest.utf8.last != UInt8(ascii: "]") && rest.split(separator: "]").last?.contains(":") == true
    do {
      let address = try ListenAddress(hasPort ? rest : "\(rest):\(isSecure ? 443 : 80)")
      (host, port) = (address.host, Int(address.port))
    } catch {
      throw .unreachable("“\(url.printable(utf8Bytes: 100))” is not the address of a service.")
    }
    self.isSecure = isSecure
    self.token = token
    self.ca = ca
  }

  /// Sends a request and reads the whole answer.
  package func send(
    _ method: String, _ path: String, body: JSONValue? = nil, headers: [String: String] = [:]
  ) async throws(Failure) -> Answer {
    let answers = Collector()
    try await exchange(method, path, body: body, headers: headers, onData: { answers.append($0) }) { answers.head = $0 }
    guard let head = answers.head else { throw .unreachable("The service closed the connection.") }
    return Answer(status: Int(head.status.code), headers: Self.headers(head), body: answers.body)
  }

  /// Sends a request and reads a JSON answer.
  ///
  /// - Throws: `refused` for a status above 299.
  package func json(
    _ method: String, _ path: String, body: JSONValue? = nil, headers: [String: String] = [:]
  ) async throws(Failure) -> JSONValue {
    let answer = try await send(method, path, body: body, headers: headers)
    return try Self.value(of: answer)
  }

  /// How a client that follows events connects again.
  package struct Reconnecting: Sendable {
    /// The waits after the first, second, … attempt in a row without an event; the last one is repeated.
    package var waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(15)]
    /// A connection on which nothing comes for this time is given up: the service sends a comment each 15 s.
    package var silence = Duration.seconds(45)
    /// Is called with a sentence when a connection is lost.
    package var lost: @Sendable (String) -> Void = { _ in }

    package init() {}
  }

  /// Follows server-sent events until `onEvent` returns false or the task is cancelled. When the connection ends, the next one goes on
  /// behind the last event.
  ///
  /// - Parameters:
  ///   - id: the event before the first one that is wanted; nil for all.
  ///   - onEvent: gets the data of each event; returns whether to go on.
  /// - Throws: what the first connection throws, and later ones if the service refuses the request.
  package func follow(
    _ path: String, after id: String?, _ reconnecting: Reconnecting = Reconnecting(),
    onEvent: @escaping @Sendable (JSONValue) -> Bool
  ) async throws(Failure) {
    let parser = EventParser(after: id, onEvent: onEvent)
    var attempts = 0
    while !Task.isCancelled, !parser.isDone {
      let before = parser.lastID
      let sentence: String
      do throws(Failure) {
        try await events(path, parser, silence: reconnecting.silence)
        sentence = "The connection to the service was lost."
      } catch {
        switch error {
        case .unreachable(let reason) where parser.hasBegun: sentence = reason
        case .refused(let status, let reason) where parser.hasBegun && [429, 500, 502, 503, 504].contains(status):
          sentence = reason
        default: throw error
        }
      }
      if parser.isDone { return }
      if parser.lastID != before { attempts = 0 }
      if attempts == 0 { reconnecting.lost(sentence) }
      let wait = reconnecting.waits.isEmpty ? .zero : reconnecting.waits[min(attempts, reconnecting.waits.count - 1)]
      attempts += 1
      do { try await ServiceTimer.sleep(for: wait) } catch { return }
    }
  }

  /// Reads a stream of server-sent events until it ends.
  private func events(_ path: String, _ parser: EventParser, silence: Duration) async throws(Failure) {
    var headers = ["Accept": "text/event-stream"]
    headers["Last-Event-ID"] = parser.lastID
    parser.begin()
    let answers = Collector()
    try await exchange(
      "GET", path, body: nil, headers: headers, silence: TimeAmount(silence),
      onData: { bytes in
        guard answers.head?.status == .ok else { return answers.append(bytes) }
        return parser.receive(bytes)
      }
    ) { head in
      answers.head = head
      if head.status == .ok { parser.hasBegun = true }
    }
    guard let head = answers.head else { throw .unreachable("The service closed the connection.") }
    if head.status != .ok {
      _ = try Self.value(of: Answer(status: Int(head.status.code), headers: [:], body: answers.body))
    }
  }

  private static func value(of answer: Answer) throws(Failure) -> JSONValue {
    let limits = JSONLimits(
      bytes: maximumBody, values: 2_000_000, depth: 32, nameBytes: 8_192, nameRunOutsideASCII: 8_192)
    let value = try? JSONReader.decode(JSONValue.self, from: Data(answer.body), within: limits)
    guard answer.status < 300 else {
      var sentence = value?["detail"]?.string?.string ?? "The service answered with \(answer.status)."
      if case .array(let errors)? = value?["errors"] {
        for error in errors {
          let place = error["pointer"] ?? error["parameter"] ?? error["header"]
          if let place = place?.string, let detail = error["detail"]?.string {
            sentence += "\n  \(place.string): \(detail.string)"
          }
        }
      }
      throw .refused(status: answer.status, sentence: sentence.printable(utf8Bytes: 4_000, keeping: ["\n"]))
    }
    if answer.body.isEmpty { return .null }
    guard let value else { throw .unusable }
    return value
  }

  private static func headers(_ head: HTTPResponseHead) -> [String: String] {
    Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
  }

  private func exchange(
    _ method: String, _ path: String, body: JSONValue?, headers: [String: String], silence: TimeAmount? = nil,
    onData: @escaping @Sendable ([UInt8]) -> Bool, onHead: @escaping @Sendable (HTTPResponseHead) -> Void
  ) async throws(Failure) {
    var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: path)
    head.headers.add(name: "Host", value: ListenAddress(host: host, port: UInt16(clamping: port)).description)
    head.headers.add(name: "Authorization", value: "Bearer \(token)")
    head.headers.add(name: "Connection", value: "close")
    for (name, value) in headers { head.headers.replaceOrAdd(name: name, value: value) }
    var bytes: [UInt8] = []
    if let body {
      guard let data = try? JSONEncoder().encode(body) else { throw .unusable }
      bytes = Array(data)
      head.headers.add(name: "Content-Type", value: "application/json")
    }
    if method != "GET" { head.headers.add(name: "Content-Length", value: "\(bytes.count)") }
    do {
      let context = isSecure ? try NIOSSLContext(configuration: tlsConfiguration()) : nil
      let name = host
      let done = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
      let connecting = ClientBootstrap(group: done.futureResult.eventLoop)
        .connectTimeout(.seconds(10))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if let context {
              let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
              try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : name))
            }
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            try channel.pipeline.syncOperations.addHandler(
              ResponseHandler(
                timeout: silence ?? Self.timeout, isOfSilence: silence != nil, done: done, onHead: onHead,
                onData: onData))
          }
        }.connect(host: host, port: port)
      // A handler that was never active does not end the exchange.
      connecting.whenFailure { done.fail($0) }
      let channel = try await connecting.get()
      channel.write(HTTPClientRequestPart.head(head), promise: nil)
      if !bytes.isEmpty {
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
      }
      channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
      try await done.futureResult.get()
    } catch {
      throw .unreachable(
        "The service at \(isSecure ? "https" : "http")://\(ListenAddress(host: host, port: UInt16(clamping: port))) "
          + "was not reached: \("\(error)".printable(utf8Bytes: 300)).")
    }
  }

  private func tlsConfiguration() -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    if let ca { configuration.trustRoots = .file(ca) }
    return configuration
  }
}

/// What has arrived of an answer; used on its event loop, and read when the exchange is over.
private final class Collector: @unchecked Sendable {
  var head: HTTPResponseHead?
  var body: [UInt8] = []

  func append(_ bytes: [UInt8]) -> Bool {
    guard body.count + bytes.count <= 64 << 20 else { return false }
    body += bytes
    return true
  }
}

private final class ResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private struct TimedOut: Error, CustomStringConvertible {
    var description: String { "no answer came in time" }
  }

  private let timeout: TimeAmount
  /// Whether the time begins again with everything that comes.
  private let isOfSilence: Bool
  private let done: EventLoopPromise<Void>
  private let onHead: @Sendable (HTTPResponseHead) -> Void
  private let onData: @Sendable ([UInt8]) -> Bool
  private var timer: Scheduled<Void>?

  init(
    timeout: TimeAmount, isOfSilence: Bool, done: EventLoopPromise<Void>,
    onHead: @escaping @Sendable (HTTPResponseHead) -> Void,
    onData: @escaping @Sendable ([UInt8]) -> Bool
  ) {
    self.timeout = timeout
    self.isOfSilence = isOfSilence
    self.done = done
    self.onHead = onHead
    self.onData = onData
  }

  func channelActive(context: ChannelHandlerContext) {
    startTimer(context)
    context.fireChannelActive()
  }

  private func startTimer(_ context: ChannelHandlerContext) {
    timer?.cancel()
    let (done, channel) = (done, context.channel)
    timer = context.eventLoop.scheduleTask(in: timeout) {
      done.fail(TimedOut())
      channel.close(promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isOfSilence { startTimer(context) }
    switch unwrapInboundIn(data) {
    case .head(let head): onHead(head)
    case .body(let buffer): if !onData(Array(buffer: buffer)) { finish(context) }
    case .end: finish(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    done.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    done.succeed()
    context.fireChannelInactive()
  }

  private func finish(_ context: ChannelHandlerContext) {
    timer?.cancel()
    done.succeed()
    context.close(promise: nil)
  }
}

/// Reads server-sent events of several connections; used on one event loop at a time, and between them.
private final class EventParser: @unchecked Sendable {
  private let onEvent: @Sendable (JSONValue) -> Bool
  private var line: [UInt8] = []
  private var data: [UInt8] = []
  /// The id of the event that is being read.
  private var id: String?
  /// The id of the last event.
  private(set) var lastID: String?
  /// Whether a connection was accepted.
  var hasBegun = false
  /// Whether no further event is wanted.
  private(set) var isDone = false

  private static let maximumBytes = 4 << 20

  init(after id: String?, onEvent: @escaping @Sendable (JSONValue) -> Bool) {
    lastID = id
    self.onEvent = onEvent
  }

  /// A connection begins: what an earlier one left incomplete is forgotten.
  func begin() { (line, data, id) = ([], [], nil) }

  /// Returns whether to go on.
  func receive(_ bytes: [UInt8]) -> Bool {
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        if line.count > Self.maximumBytes { return false }
        continue
      }
      defer { line = [] }
      if line.isEmpty {
        guard deliver() else { return false }
      } else if line.starts(with: "data: ".utf8) {
        data += line.dropFirst(6)
      } else if line.starts(with: "id: ".utf8) {
        // It goes into a header.
        let text = String(decoding: line.dropFirst(4), as: UTF8.self)
        if text.utf8.count <= 64, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { id = text }
      }
    }
    return true
  }

  private func deliver() -> Bool {
    guard !data.isEmpty else { return true }
    if let id { lastID = id }
    defer { (data, id) = ([], nil) }
    let limits = JSONLimits(
      bytes: Self.maximumBytes, values: 200_000, depth: 32, nameBytes: 8_192, nameRunOutsideASCII: 8_192)
    guard let value = try? JSONReader.decode(JSONValue.self, from: Data(data), within: limits) else { return true }
    isDone = !onEvent(value)
    return !isDone
  }
}
