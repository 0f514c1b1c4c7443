internal import AsyncHTTPClient
internal import Media
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// Sends webhooks. A test puts another one in its place.
package protocol WebhookSending: Sendable {
  /// Tries once to send a message.
  func send(_ message: WebhookMessage, to url: WebhookURL, secrets: WebhookSecretList) async -> WebhookOutcome
}

/// Sends webhooks over HTTP/1.1.
///
/// The name of the receiver is resolved once. All its addresses are checked, and one of those is connected to, under the name that the
/// certificate must have: a name that stands for another address a moment later changes nothing.
package struct WebhookSender: WebhookSending {
  package struct Settings: Sendable {
    /// Whether receivers may be on this machine and in private networks.
    package var allowsPrivate = false
    /// A PEM file with CA certificates to trust in addition to those of the system.
    package var ca: String?
    /// From the look-up of the name to the end of the answer.
    package var timeout = Duration.seconds(10)

    package init() {}
  }

  /// Why the sender cannot be set up: a sentence.
  package struct SetupError: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// How much of an answer is read.
  package static let maximumAnswer = 65_536
  /// How many addresses of a name are tried.
  private static let maximumAddresses = 3

  private let settings: Settings
  private let resolver: any WebhookResolver
  private let group: any EventLoopGroup
  private let userAgent: String
  private let tls: TLSConfiguration

  /// Blocks while it reads the CA certificates.
  package init(
    _ settings: Settings, resolver: any WebhookResolver = SystemResolver(), userAgent: String,
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) throws(SetupError) {
    self.settings = settings
    self.resolver = resolver
    self.group = group
    self.userAgent = userAgent
    var tls = TLSConfiguration.makeClientConfiguration()
    if let path = settings.ca {
      do {
        tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(path))]
      } catch {
        throw SetupError(description: "The CA certificates \(path) cannot be used: \("\(error)".printable()).")
      }
    }
    self.tls = tls
  }

  package func send(_ message: WebhookMessage, to url: WebhookURL, secrets: WebhookSecretList) async -> WebhookOutcome {
    let deadline = MonotonicInstant.now + settings.timeout
    let addresses: [IPAddress]
    do throws(WebhookFailure) {
      addresses = try await checkedAddresses(of: url, until: deadline)
    } catch {
      return .failed(error)
    }
    var outcome = WebhookOutcome.failed(.init(.timeout, "The name of the receiver was resolved too late."))
    let chosen = Self.chosen(addresses)
    for (index, address) in chosen.enumerated() {
      let left = deadline - .now
      guard left > .zero, !Task.isCancelled else { break }
      // The last one may take all the time that is left.
      let isLast = index + 1 == chosen.count
      let attempt = Attempt(
        url: url, address: address, tls: tls, connectTime: isLast ? left : left / 3, deadline: deadline)
      let result = await attempt.run(
        message, secrets: secrets, userAgent: userAgent, time: Int64(WallClock.read().secondsSince1970), on: group)
      outcome = result.outcome
      // What a receiver may have got is not sent to another one.
      if result.wasConnected { break }
    }
    return outcome
  }

  /// Chooses the addresses that are tried: the preferred one, then one of the other protocol, which may work where this one does not.
  private static func chosen(_ addresses: [IPAddress]) -> [IPAddress] {
    guard let first = addresses.first else { return [] }
    let other = addresses.first { $0.bytes.count != first.bytes.count }
    let order = [first] + (other.map { [$0] } ?? []) + addresses.dropFirst().filter { $0 != other }
    return Array(order.prefix(maximumAddresses))
  }

  /// Looks up the name, and refuses it where one of its addresses is not public.
  private func checkedAddresses(
    of url: WebhookURL, until deadline: MonotonicInstant
  ) async throws(WebhookFailure) -> [IPAddress] {
    let (resolver, host) = (resolver, url.host)
    let found = await Deadline.run(until: deadline) { () -> Result<[IPAddress], WebhookResolverError> in
      do throws(WebhookResolverError) {
        return .success(try await resolver.addresses(of: host))
      } catch {
        return .failure(error)
      }
    }
    let addresses: [IPAddress]
    switch found {
    case nil: throw WebhookFailure(.timeout, "The name of the receiver was not resolved in time.")
    case .failure(let error)?: throw WebhookFailure(.address, error.description.printable())
    case .success(let list)?: addresses = list
    }
    guard !addresses.isEmpty else { throw WebhookFailure(.address, "The name of the receiver has no address.") }
    guard settings.allowsPrivate || (url.isSecure && addresses.allSatisfy(\.isPublic)) else {
      throw WebhookFailure(.address, "The receiver is on this machine or in a private network.")
    }
    return addresses
  }
}

extension WebhookFailure: Error {}

/// One request to one address.
private struct Attempt {
  let url: WebhookURL
  let address: IPAddress
  let tls: TLSConfiguration
  let connectTime: Duration
  let deadline: MonotonicInstant

  /// The connection is to another address than the one that was checked.
  private struct OtherAddress: Error {}

  /// A client of its own: which address a name stands for is a property of the client.
  private func client(_ connected: Flag, on group: any EventLoopGroup) -> HTTPClient {
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    configuration.httpVersion = .http1Only
    configuration.dnsOverride = [url.host: address.description, "[\(url.host)]": address.description]
    configuration.timeout.connect = .nanoseconds(connectTime.nanoseconds)
    // A try is one connection: the next one has its time, or is to another address.
    configuration.connectionPool.retryConnectionEstablishment = false
    let expected = address
    configuration.http1_1ConnectionDebugInitializer = { channel in
      // Before anything is sent.
      guard let bytes = channel.remoteAddress?.addressBytes, bytes == expected.bytes else {
        return channel.eventLoop.makeFailedFuture(OtherAddress())
      }
      connected.raise()
      return channel.eventLoop.makeSucceededVoidFuture()
    }
    return HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
  }

  func run(
    _ message: WebhookMessage, secrets: WebhookSecretList, userAgent: String, time: Int64, on group: any EventLoopGroup
  ) async -> (outcome: WebhookOutcome, wasConnected: Bool) {
    guard let fields = message.fields(at: time, secrets: secrets) else {
      return (.failed(.init(.unusable, "The message cannot be signed.")), true)
    }
    var request = HTTPClientRequest(url: url.target)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: userAgent)
    for field in fields { request.headers.add(name: field.name, value: field.value) }
    request.body = .bytes(ByteBuffer(bytes: message.body))
    let connected = Flag()
    let client = client(connected, on: group)
    let left = deadline - .now
    let outcome: WebhookOutcome
    do {
      let response = try await client.execute(request, deadline: .now() + .nanoseconds(max(0, left.nanoseconds)))
      let body = await Deadline.run(until: deadline) { await Self.body(of: response) }
      outcome = WebhookOutcome(status: Int(response.status.code), body: body ?? [])
    } catch {
      outcome = .failed(Self.failure(error))
    }
    // It closes the connection, whatever is left of the answer.
    try? await client.shutdown()
    return (outcome, connected.isRaised)
  }

  /// Reads the beginning of an answer. What fails now changes nothing: the status is known.
  private static func body(of response: HTTPClientResponse) async -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      for try await part in response.body {
        bytes += part.readableBytesView.prefix(WebhookSender.maximumAnswer - bytes.count)
        if bytes.count >= WebhookSender.maximumAnswer { break }
      }
    } catch {
      return bytes
    }
    return bytes
  }

  private static func failure(_ error: any Error) -> WebhookFailure {
    switch error {
    case is CancellationError: return WebhookFailure(.cancelled, "The service ended.")
    case let error as HTTPClientError:
      let timeouts: [HTTPClientError] = [
        .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout,
      ]
      if timeouts.contains(error) { return WebhookFailure(.timeout, "The receiver did not answer in time.") }
      if error == .cancelled { return WebhookFailure(.cancelled, "The service ended.") }
      if error == .remoteConnectionClosed {
        return WebhookFailure(.connection, "The receiver closed the connection without an answer.")
      }
      return WebhookFailure(.connection, "The request failed: \(error.shortDescription.lowercased()).")
    case is NIOConnectionError, is IOError:
      return WebhookFailure(.connection, "The receiver cannot be connected to: \("\(error)".printable())")
    case is OtherAddress: return WebhookFailure(.address, "The connection was to another address.")
    default: return WebhookFailure(.connection, "The request failed: \("\(error)".printable())")
    }
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    Int64(clamping: components.seconds) * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}

extension SocketAddress {
  /// The 4 or 16 bytes of the IP address; nil for others.
  fileprivate var addressBytes: [UInt8]? { ipAddress.flatMap { IPAddress($0) }?.bytes }
}
