public import HTTPTransport
public import Logging
public import Media
public import NIOCore
import NIOHTTP1
public import NIOPosix
public import Signalling
import Synchronization

/// A publisher's or a player's connection to a WHIP server (RFC 9725) or a WHEP server (draft-ietf-wish-whep).
///
/// The only other participant is the server, with the host of the URL as its id; the peer sends the offer. ``connect()``
/// reports it as present. Whether the server accepts us shows when the offer is sent: a refusal is
/// `SignallingEvent.rejected(reason:)`, a server that is down or overloaded is tried again.
///
/// The offer must contain what RFC 9725, 4.4 requires: one bundle, RTP and RTCP multiplexed, one stream with at most
/// one audio and one video track, and the setup role `actpass`. The server sends all of its candidates in the answer.
public final class WHIPClient: SignallingClient {
  /// The events, in order, until ``leave()`` or `SignallingEvent.rejected(reason:)`.
  public let events: SignallingEvents
  /// The address of the endpoint.
  public let url: HTTPURL
  public let role: Role

  private enum Input: Sendable {
    case send(SignallingMessage, ParticipantID)
    case response(Int, Result<HTTPResponse, HTTPError>)
    case time
    case leave
  }

  private struct Running {
    var task: Task<Void, Never>?
    var isConnecting = false
    var isClosed = false
  }

  private let options: Options
  private let logger: Logger
  private let http: HTTPClient
  private let inbox: SignallingEventBuffer
  private let inputs: AsyncStream<Input>
  private let input: AsyncStream<Input>.Continuation
  private let running = Mutex(Running())

  public var capabilities: SignallingCapabilities { Self.capabilities }

  /// What can be done at every server.
  static let capabilities: SignallingCapabilities = {
    var capabilities = SignallingCapabilities()
    capabilities.dataChannels = nil
    return capabilities
  }()

  /// Creates a client that is not connected yet.
  ///
  /// - Parameters:
  ///   - role: whether we publish or play.
  ///   - url: the address of the WHIP or WHEP endpoint.
  ///   - options: the token, the timeouts and the limits.
  ///   - logger: logs messages that are ignored.
  ///   - group: one of its event loops serves the connections.
  public init(
    _ role: Role, url: HTTPURL, options: Options = Options(), logger: Logger = Logger(label: "whip.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) {
    self.role = role
    self.url = url
    self.options = options
    self.logger = logger
    var http = HTTPClient.Options()
    http.trust = options.trust
    http.connectTimeout = options.connectTimeout
    http.maximumBodyBytes = options.maximumResponseBytes
    self.http = HTTPClient(options: http, on: group)
    (events, inbox) = SignallingEventBuffer.make(limit: options.maximumWaitingEvents)
    // Only our own peer and the responses to our own requests add to it.
    (inputs, input) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(16_384))
  }

  deinit {
    inbox.finish()
    input.finish()
  }

  /// Asks whether a server listens, unless ``Options/requestsOptions`` is off, and announces it as a participant.
  ///
  /// - Throws: if the server cannot be reached, its certificate is not trusted, or it rejects the token.
  public func connect() async throws(SignallingConnectError) {
    let isFirst = running.withLock { running in
      defer { running.isConnecting = true }
      return !running.isClosed && !running.isConnecting && running.task == nil
    }
    guard isFirst else { return }
    defer { running.withLock { $0.isConnecting = false } }
    do throws(TLSTrust.ContextError) {
      try options.trust.check()
    } catch {
      throw .invalidConfiguration(error.description)
    }
    if options.token != nil && !url.isSecure {
      logger.warning("The token is sent to \(url.authority) without encryption.")
    }
    let iceServers = options.requestsOptions ? try await requestOptions() : []
    running.withLock { running in
      if !running.isClosed { running.task = Task { await self.run(iceServers: iceServers) } }
    }
  }

  /// Sends an offer, an answer or a candidate of the peer to the server.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    input.yield(.send(message, participant))
  }

  /// Deletes the session at the server, ends ``events`` and returns when the server has responded, after
  /// ``Options/leaveTimeout`` at the latest.
  public func leave() async {
    let task = running.withLock { running in
      running.isClosed = true
      return running.task
    }
    input.yield(.leave)
    inbox.finish()
    if let task {
      let limit = options.leaveTimeout
      let timer = Task {
        try await Task.sleep(for: limit)
        task.cancel()
      }
      await task.value
      timer.cancel()
    }
    http.close()
  }

  // MARK: Carrying out

  private func requestOptions() async throws(SignallingConnectError) -> [ICEServer] {
    var request = HTTPRequest(.OPTIONS, url, timeout: options.responseTimeout)
    if let token = options.token { request.headers.add(name: "Authorization", value: token.headerValue) }
    let response: HTTPResponse
    do throws(HTTPError) {
      response = try await http.send(request)
    } catch {
      throw SignallingConnectError(error)
    }
    // Servers that do not know OPTIONS respond with any other status; the offer decides.
    guard response.status != .unauthorized else {
      throw .unauthorized("\(url) \(options.token == nil ? "requires a token" : "rejects the token").")
    }
    return response.statusClass == 2 ? response.iceServers : []
  }

  private func run(iceServers: [ICEServer]) async {
    var session = WHIPSession(role, endpoint: url, options: options)
    if !iceServers.isEmpty { await inbox.deliver(.iceServers(iceServers)) }
    await carryOut(session.joined())
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    for await input in inputs {
      let now = MonotonicInstant.now
      let actions =
        switch input {
        case .send(let message, let participant): session.send(message, to: participant, now: now)
        case .response(let request, let result): session.responded(to: request, result, now: now)
        case .time: session.timePassed(now: now)
        case .leave: session.leave()
        }
      await carryOut(actions)
      if session.isFinished { break }
      timer?.cancel()
      timer = session.deadline.map { deadline in
        Task { [input = self.input] in
          do { try await Task.sleep(until: deadline.instant, clock: .continuous) } catch { return }
          input.yield(.time)
        }
      }
    }
    inbox.finish()
  }

  private func carryOut(_ actions: [WHIPSession.Action]) async {
    for action in actions {
      switch action {
      case .deliver(let event):
        await inbox.deliver(event)
      case .log(let level, let text):
        logger.log(level: level, "\(text)")
      case .send(let number, let request):
        Task { [http, input] in
          do throws(HTTPError) {
            input.yield(.response(number, .success(try await http.send(request))))
          } catch {
            input.yield(.response(number, .failure(error)))
          }
        }
      }
    }
  }
}
