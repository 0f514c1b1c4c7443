internal import HTTPTransport
import NIOCore
internal import NIOHTTP1
import Synchronization

/// Packets of Engine.IO over long polling: a GET request waits for packets of the server, and POST requests carry ours.
///
/// Only for servers that refuse WebSockets, so it never changes to one.
final class PollingTransport: EngineIOTransport {
  let packets: AsyncStream<String>
  let generation: EngineIOGeneration?

  private let inbox: AsyncStream<String>.Continuation
  private let client: HTTPClient
  private let url: HTTPURL
  private let format: EngineIOPayload.Format
  /// The server answers a GET at the latest when it sends or expects a ping.
  private let pollTimeout: Duration
  private let postTimeout: Duration
  private let closeTimeout: Duration
  private let state = Mutex(State())
  private let wake: AsyncStream<Void>.Continuation

  private struct State {
    var outgoing: [String] = []
    var outgoingBytes = 0
    var isClosing = false
    var reason: String?
    var waiters: [CheckedContinuation<String, Never>] = []
    var tasks: [Task<Void, Never>] = []
  }

  /// The bytes that may wait to be sent; a connection with more is ended.
  private static let maximumOutgoingBytes = 1 << 20
  private static let maximumWaitingPackets = 4_096

  /// Opens a connection: the first response names it.
  ///
  /// - Parameter url: with the parameters of the connection besides `sid`.
  static func open(
    _ url: HTTPURL, client: HTTPClient, timeout: Duration,
    closeTimeout: Duration
  ) async throws(PollingError) -> PollingTransport {
    let response: HTTPResponse
    do { response = try await client.send(HTTPRequest(.GET, url, timeout: timeout)) } catch { throw .http(error) }
    guard response.status.code == 200 else {
      throw .refused(url, status: response.status.code, text: response.text)
    }
    do throws(SocketIOParseError) {
      let (packets, format) = try EngineIOPayload.parse(response.text)
      let first = try EngineIOPacket(parsing: packets.first ?? "")
      guard first.kind == .open else { throw .invalidHandshake }
      let handshake = try EngineIOHandshake(parsing: first.text)
      var named = url
      named.target += "&sid=" + handshake.sessionID.escapedForQuery
      return PollingTransport(
        named, packets: packets, format: format, client: client,
        pollTimeout: handshake.pingInterval + handshake.pingTimeout + .seconds(5), postTimeout: timeout,
        closeTimeout: closeTimeout)
    } catch {
      throw .invalid(url, error)
    }
  }

  private init(
    _ url: HTTPURL, packets first: [String], format: EngineIOPayload.Format, client: HTTPClient,
    pollTimeout: Duration, postTimeout: Duration, closeTimeout: Duration
  ) {
    self.url = url
    self.format = format
    self.client = client
    self.pollTimeout = pollTimeout
    self.postTimeout = postTimeout
    self.closeTimeout = closeTimeout
    generation = format == .lengths ? .three : .four
    (packets, inbox) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingOldest(Self.maximumWaitingPackets))
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    for packet in first { inbox.yield(packet) }
    let tasks = [
      Task { await self.receive() },
      Task { for await _ in wakes { if await !self.post() { return } } },
    ]
    state.withLock { $0.tasks = tasks }
  }

  func send(_ packet: String) {
    let isFull = state.withLock { state in
      guard !state.isClosing else { return false }
      state.outgoing.append(packet)
      state.outgoingBytes += packet.utf8.count
      return state.outgoingBytes > Self.maximumOutgoingBytes
    }
    if isFull { return end("The server reads too slowly: \(Self.maximumOutgoingBytes) bytes waited to be sent.") }
    wake.yield()
  }

  func close() {
    state.withLock { state in
      guard !state.isClosing else { return }
      state.isClosing = true
      let packet = EngineIOPacket(.close).encoded
      state.outgoing.append(packet)
      state.outgoingBytes += packet.utf8.count
    }
    wake.yield()
    Task {
      try await Task.sleep(for: closeTimeout)
      end("We closed the connection.")
    }
  }

  func ended() async -> String {
    await withCheckedContinuation { waiter in
      let reason = state.withLock { state in
        if state.reason == nil { state.waiters.append(waiter) }
        return state.reason
      }
      if let reason { waiter.resume(returning: reason) }
    }
  }

  // MARK: Requests

  private func receive() async {
    while state.withLock({ $0.reason == nil && !$0.isClosing }) {
      let response: HTTPResponse
      do throws(HTTPError) {
        response = try await client.send(HTTPRequest(.GET, url, timeout: pollTimeout))
      } catch {
        return end(error.description.withoutQueries)
      }
      guard response.status.code == 200 else {
        return end("The server answered a request for messages with the status \(response.status.code).")
      }
      // A body that cannot be split is delivered as one packet, which is counted as damaged.
      for packet in (try? EngineIOPayload.parse(response.text).packets) ?? [""] {
        if case .dropped = inbox.yield(packet) {
          return end("The reader fell behind by \(Self.maximumWaitingPackets) messages.")
        }
      }
    }
  }

  /// Sends what is queued.
  ///
  /// - Returns: whether the connection goes on.
  private func post() async -> Bool {
    while true {
      let (batch, isClosing) = state.withLock { state in
        let batch = Array(state.outgoing.prefix(EngineIOPayload.maximumPackets))
        state.outgoing.removeFirst(batch.count)
        state.outgoingBytes -= batch.reduce(0) { $0 + $1.utf8.count }
        return (batch, state.isClosing)
      }
      if batch.isEmpty {
        if isClosing { end("We closed the connection.") }
        return !isClosing
      }
      let body = ByteBuffer(string: EngineIOPayload.encode(batch, as: format))
      let request = HTTPRequest(
        .POST, url, headers: ["Content-Type": "text/plain;charset=UTF-8"], body: body, timeout: postTimeout)
      do throws(HTTPError) {
        let response = try await client.send(request)
        guard response.status.code == 200 || isClosing else {
          end("The server answered a message with the status \(response.status.code).")
          return false
        }
      } catch {
        end(error.description.withoutQueries)
        return false
      }
    }
  }

  private func end(_ reason: String) {
    let (waiters, tasks) = state.withLock { state in
      if state.reason == nil { state.reason = reason }
      defer { (state.waiters, state.tasks) = ([], []) }
      return (state.waiters, state.tasks)
    }
    inbox.finish()
    wake.finish()
    for waiter in waiters { waiter.resume(returning: reason) }
    for task in tasks { task.cancel() }
  }
}
