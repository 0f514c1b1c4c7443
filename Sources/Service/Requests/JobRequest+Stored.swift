import FoundationEssentials
import Glibc
import JSON
package import JobProtocol
import Media
import OptionValues

extension JobRequest {
  private enum Keys: String, CodingKey {
    case kind, server, room, user, options, end, startAt, queueFor, labels, uniqueKey, webhooks
  }

  /// JSON for the database.
  package var stored: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// Reads ``stored``.
  package init(stored text: String) throws {
    let limits = JSONLimits(bytes: 1 << 20, values: 20_000, depth: 12, nameRunOutsideASCII: 256)
    self = try JSONReader.decode(Self.self, from: text, within: limits)
  }

  /// What a process is told to do.
  ///
  /// - Parameter paused: who is paused when it begins.
  /// - Throws: a `JobProblem` if the server is no longer in the configuration.
  package func specification(
    job: String, attempt: Int, attemptID: String, paused: PauseState, configuration: ServiceConfiguration,
    udpPort: UInt16? = nil
  ) throws(JobProblem) -> JobSpecification {
    var jobServer: JobServer
    if let known = configuration.servers[server] {
      jobServer = JobServer(url: known.url, iceServers: known.iceServers)
      if let ca = known.ca { jobServer.options["caCertificate"] = .string(.init(Self.absolute(ca))) }
      if let allowed = known.allowsPrivateCandidates { jobServer.options["allowLocalCandidates"] = .bool(allowed) }
    } else if configuration.allowsAnyServer, ServerURL.problem(server) == nil {
      jobServer = JobServer(url: server)
      // Nobody who submits a job reaches a private network by it.
      jobServer.options["allowLocalCandidates"] = .bool(false)
    } else {
      throw JobProblem("/server", "The server “\(server)” is not in the configuration.")
    }
    if let address = configuration.media.bindAddress { jobServer.options["bindAddress"] = .string(.init(address)) }
    if let udpPort { jobServer.options["udpPort"] = .number(Double(udpPort)) }
    var specification = JobSpecification(
      job: job, attempt: attempt, attemptID: attemptID, kind: kind, server: jobServer)
    specification.room = room
    specification.user = user
    specification.options = options
    specification.library = configuration.library.map(Self.absolute)
    specification.end = end
    specification.paused = paused
    specification.orphanLimit = configuration.orphanLimit.milliseconds
    return specification
  }

  /// The absolute path of a file: a process has another working directory.
  private static func absolute(_ path: String) -> String {
    guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
  }
}

extension JobRequest: Codable {
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    self.init(
      kind: try fields.decode(JobKind.self, forKey: .kind), server: try fields.decode(String.self, forKey: .server))
    room = try fields.decodeIfPresent(String.self, forKey: .room)
    user = try fields.decodeIfPresent(String.self, forKey: .user)
    options = try fields.decodeIfPresent([String: JSONValue].self, forKey: .options) ?? [:]
    end = try fields.decodeIfPresent(JobEnd.self, forKey: .end) ?? JobEnd()
    startAt = try fields.decodeIfPresent(Int64.self, forKey: .startAt)
    queueFor = try fields.decodeIfPresent(Int64.self, forKey: .queueFor) ?? 0
    labels = try fields.decodeIfPresent([String: String].self, forKey: .labels) ?? [:]
    uniqueKey = try fields.decodeIfPresent(String.self, forKey: .uniqueKey)
    webhooks = try fields.decodeIfPresent([WebhookRequest].self, forKey: .webhooks) ?? []
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(kind, forKey: .kind)
    try fields.encode(server, forKey: .server)
    try fields.encodeIfPresent(room, forKey: .room)
    try fields.encodeIfPresent(user, forKey: .user)
    try fields.encode(options, forKey: .options)
    try fields.encode(end, forKey: .end)
    try fields.encodeIfPresent(startAt, forKey: .startAt)
    try fields.encode(queueFor, forKey: .queueFor)
    try fields.encode(labels, forKey: .labels)
    try fields.encodeIfPresent(uniqueKey, forKey: .uniqueKey)
    if !webhooks.isEmpty { try fields.encode(webhooks, forKey: .webhooks) }
  }
}
