import AsyncHTTPClient
package import Logging
import Media
package import NIOCore
import NIOHTTP1
import NIOSSL
package import SQLStore
import Synchronization

/// The other nodes, as this one asks them over HTTP for what only they have: live figures, logs, snapshots, and commands of the
/// processes that they supervise.
///
/// A node is reached at the address that it has written into the database, with the token that all nodes have. A question that
/// came from another node is never passed on, so that no question goes round.
package struct NodePeers: Sendable {
  package struct Answer: Sendable {
    package var status: Int
    package var contentType: String?
    package var retryAfter: String?
    package var body: ByteBuffer
  }

  /// The project that the question is asked for.
  static let projectField = "Chatbot-Project"

  private static let timeout = TimeAmount.seconds(3)
  /// A command is waited for at the other node, for 5 s.
  private static let commandTimeout = TimeAmount.seconds(6)
  private static let maximumBody = 16 << 20
  /// How many nodes are asked for the figures of all jobs.
  private static let maximumNodes = 100

  private let store: JobStore
  /// The name of this node.
  private let name: String
  private let token: ClusterToken
  private let client: HTTPClient
  private let logger: Logger

  /// Why the certificates of CAs cannot be used: a sentence.
  package struct CAFailure: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// - Parameter ca: a PEM file with CA certificates to trust in addition to those of the system. It is read here, which blocks.
  package init(
    store: JobStore, name: String, token: ClusterToken, ca: String? = nil, logger: Logger
  ) throws(CAFailure) {
    client = try Self.client(ca: ca)
    self.store = store
    self.name = name
    self.token = token
    self.logger = logger
  }

  /// One for the process and each file of CA certificates, which is never shut down.
  private static let clients = Mutex<[String: HTTPClient]>([:])

  private static func client(ca: String?) throws(CAFailure) -> HTTPClient {
    if let known = clients.withLock({ $0[ca ?? ""] }) { return known }
    var tls = TLSConfiguration.makeClientConfiguration()
    if let ca {
      do {
        tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(ca))]
      } catch {
        let reason = "\(error)".printable(utf8Bytes: 200)
        throw CAFailure(description: "The CA certificates \(ca.printable(utf8Bytes: 300)) cannot be used: \(reason).")
      }
    }
    let made = tls
    return clients.withLock { clients in
      let client = clients[ca ?? ""] ?? makeClient(made)
      clients[ca ?? ""] = client
      return client
    }
  }

  private static func makeClient(_ tls: TLSConfiguration) -> HTTPClient {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.tlsConfiguration = tls
    configuration.timeout.connect = .seconds(1)
    // The time of a request ends with the head of the answer: a node that stops within the body is not waited for either.
    configuration.timeout.read = NodePeers.commandTimeout
    configuration.connectionPool.retryConnectionEstablishment = false
    // A command is waited for at the other node, and others do not wait for it.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// The rights of a request that another node has sent; nil if it is not one.
  func caller(_ credential: APIAccess.Credential, project: String?) -> AccessToken? {
    guard case .header(let text) = credential, token.matches(text), let project, AccessToken.isName(project) else {
      return nil
    }
    return AccessToken(
      name: Self.callerName, role: .operator, project: project, digest: SHA256Digest(of: text.utf8))
  }

  /// The name of the callers that are nodes. It is no name of a token in a file.
  static let callerName = "(node)"

  /// Asks the node that has a job.
  ///
  /// - Parameter path: with its query, as in the request.
  /// - Returns: nil if this node has the job, or if the other one does not answer.
  func ask(
    _ node: String?, _ method: HTTPMethod, _ path: String, body: ByteBuffer? = nil, project: String
  ) async -> Answer? {
    guard let node, node != name else { return nil }
    do {
      guard let address = try await address(of: node) else { return nil }
      return try await send(method, address + path, body, project)
    } catch {
      logger.info(
        "The node does not answer: \("\(error)".printable(utf8Bytes: 200))", metadata: ["node": .string(node)])
      return nil
    }
  }

  /// Asks all other nodes that are there.
  ///
  /// - Returns: the answers with the status 200.
  func askAll(_ path: String, project: String) async -> [ByteBuffer] {
    let nodes = ((try? await store.nodes()) ?? []).filter { $0.name != name && $0.isAlive && $0.advertise != nil }
    return await withTaskGroup(of: ByteBuffer?.self) { group in
      for node in nodes.prefix(Self.maximumNodes) {
        guard let address = node.advertise.map(Self.base) else { continue }
        group.addTask {
          guard let answer = try? await send(.GET, address + path, nil, project), answer.status == 200 else {
            return nil
          }
          return answer.body
        }
      }
      return await group.reduce(into: []) { if let body = $1 { $0.append(body) } }
    }
  }

  private func address(of node: String) async throws -> String? {
    try await store.nodes().first { $0.name == node && $0.isAlive }?.advertise.map(Self.base)
  }

  private static func base(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

  private func send(
    _ method: HTTPMethod, _ url: String, _ body: ByteBuffer?, _ project: String
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: url)
    request.method = method
    request.headers.add(name: "Authorization", value: "Bearer \(token.text)")
    request.headers.add(name: Self.projectField, value: project)
    if let body {
      request.headers.add(name: "Content-Type", value: "application/json")
      request.body = .bytes(body)
    }
    let response = try await client.execute(
      request, timeout: method == .GET ? Self.timeout : Self.commandTimeout)
    return Answer(
      status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type"),
      retryAfter: response.headers.first(name: "Retry-After"),
      body: try await response.body.collect(upTo: Self.maximumBody))
  }
}
