package import FoundationEssentials
package import JSON

/// What a job process is to do: `spec.json` in its folder.
package struct JobSpecification: Sendable, Hashable {
  /// The version of the interface, see ``JobProtocol/version``.
  package var `protocol` = JobProtocol.version
  /// The id of the job, of 1 to 64 ASCII characters.
  package var job: String
  /// The number of the attempt, from 1.
  package var attempt: Int
  /// A random id of the attempt, of 1 to 64 ASCII characters.
  package var attemptID: String
  package var kind: JobKind
  package var server: JobServer
  /// The room; nil for the server's default room, or where the address names it.
  package var room: String?
  /// The user as whom we log in.
  package var user: String?
  /// The options of the kind by their names in ``JobOptions``.
  package var options: [String: JSONValue] = [:]
  /// The absolute path of the folder of files that `input` may name; nil where only `pattern` may be played.
  package var library: String?
  package var end = JobEnd()
  /// Who is paused when the process begins; nil to let `consent` decide.
  package var paused: PauseState?
  /// After how many milliseconds without a connected service the job ends; nil for never.
  package var orphanLimit: Int64? = Self.defaultOrphanLimit

  /// One hour.
  package static let defaultOrphanLimit: Int64 = 3_600_000
  /// The maximum size of the file in bytes.
  package static let maximumBytes = 1 << 20

  package init(job: String, attempt: Int = 1, attemptID: String, kind: JobKind, server: JobServer) {
    self.job = job
    self.attempt = attempt
    self.attemptID = attemptID
    self.kind = kind
    self.server = server
  }
}

/// The server of a job, and what a configuration says of the network.
package struct JobServer: Sendable, Hashable {
  /// The address, as for `--server`.
  package var url: String
  /// The addresses of STUN and TURN servers, as for `--ice-server`.
  package var iceServers: [String]
  /// Further options of the network by their names in ``JobOptions/network``, such as `caCertificate` and `udpPort`.
  package var options: [String: JSONValue]

  package init(url: String, iceServers: [String] = [], options: [String: JSONValue] = [:]) {
    self.url = url
    self.iceServers = iceServers
    self.options = options
  }
}

/// When a job ends by itself. Times are in milliseconds.
package struct JobEnd: Sendable, Hashable {
  /// The time since the process began; nil for no limit.
  package var duration: Int64?
  /// How long nobody may be in the room, after somebody was; nil for any time.
  package var emptyFor: Int64?
  /// How long to wait for the first user; nil for any time.
  package var nobodyWithin: Int64?

  package static let defaultEmptyFor: Int64 = 60_000
  package static let defaultNobodyWithin: Int64 = 600_000

  package init(
    duration: Int64? = nil, emptyFor: Int64? = Self.defaultEmptyFor, nobodyWithin: Int64? = Self.defaultNobodyWithin
  ) {
    self.duration = duration
    self.emptyFor = emptyFor
    self.nobodyWithin = nobodyWithin
  }
}

extension JobSpecification {
  /// Reads the file. Unknown fields are left out: they are of a later version.
  package init(parsing json: some DataProtocol) throws(ParseError) {
    let limits = JSONLimits(bytes: Self.maximumBytes, values: 10_000, depth: 8)
    do {
      self = try JSONReader.decode(Self.self, from: Data(json), within: limits)
    } catch {
      switch error {
      case .tooLarge(let bytes, let limit): throw .tooLarge(bytes: bytes, limit: limit)
      case .tooMuch, .invalid: throw .invalid
      }
    }
  }

  /// The JSON of the file.
  package var json: Data { get throws { try JSONText.encode(self) } }

  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLarge(bytes: Int, limit: Int)
    case invalid

    package var description: String {
      switch self {
      case .tooLarge(let bytes, let limit):
        "\(JobFolder.specification) has \(bytes) bytes, but at most \(limit) are read."
      case .invalid: "\(JobFolder.specification) is not the JSON of a job."
      }
    }
  }
}

extension JobSpecification: Codable {
  private enum CodingKeys: String, CodingKey {
    case `protocol`, job, attempt, attemptID, kind, server, room, user, options, library, end, paused, orphanLimit
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.protocol = try fields.decode(Int.self, forKey: .protocol)
    job = try fields.decode(String.self, forKey: .job)
    attempt = try fields.decodeIfPresent(Int.self, forKey: .attempt) ?? 1
    attemptID = try fields.decode(String.self, forKey: .attemptID)
    kind = try fields.decode(JobKind.self, forKey: .kind)
    server = try fields.decode(JobServer.self, forKey: .server)
    room = try fields.decodeIfPresent(String.self, forKey: .room)
    user = try fields.decodeIfPresent(String.self, forKey: .user)
    options = try fields.decodeIfPresent([String: JSONValue].self, forKey: .options) ?? [:]
    library = try fields.decodeIfPresent(String.self, forKey: .library)
    end = try fields.decodeIfPresent(JobEnd.self, forKey: .end) ?? JobEnd()
    paused = try fields.decodeIfPresent(PauseState.self, forKey: .paused)
    orphanLimit =
      fields.contains(.orphanLimit)
      ? try fields.decodeIfPresent(Int64.self, forKey: .orphanLimit) : Self.defaultOrphanLimit
  }

  /// Without a limit `orphanLimit` is null, because a missing one is the default.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(self.protocol, forKey: .protocol)
    try fields.encode(job, forKey: .job)
    try fields.encode(attempt, forKey: .attempt)
    try fields.encode(attemptID, forKey: .attemptID)
    try fields.encode(kind, forKey: .kind)
    try fields.encode(server, forKey: .server)
    try fields.encodeIfPresent(room, forKey: .room)
    try fields.encodeIfPresent(user, forKey: .user)
    try fields.encode(options, forKey: .options)
    try fields.encodeIfPresent(library, forKey: .library)
    try fields.encode(end, forKey: .end)
    try fields.encodeIfPresent(paused, forKey: .paused)
    try fields.encode(orphanLimit, forKey: .orphanLimit)
  }
}

extension JobServer: Codable {
  private enum CodingKeys: String, CodingKey { case url, iceServers, options }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    url = try fields.decode(String.self, forKey: .url)
    iceServers = try fields.decodeIfPresent([String].self, forKey: .iceServers) ?? []
    options = try fields.decodeIfPresent([String: JSONValue].self, forKey: .options) ?? [:]
  }
}

extension JobEnd: Codable {
  private enum CodingKeys: String, CodingKey { case duration, emptyFor, nobodyWithin }

  /// A missing limit is the default one; null is none.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func limit(_ key: CodingKeys, otherwise missing: Int64?) throws -> Int64? {
      fields.contains(key) ? try fields.decodeIfPresent(Int64.self, forKey: key) : missing
    }
    duration = try limit(.duration, otherwise: nil)
    emptyFor = try limit(.emptyFor, otherwise: Self.defaultEmptyFor)
    nobodyWithin = try limit(.nobodyWithin, otherwise: Self.defaultNobodyWithin)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(duration, forKey: .duration)
    try fields.encode(emptyFor, forKey: .emptyFor)
    try fields.encode(nobodyWithin, forKey: .nobodyWithin)
  }
}

/// The JSON of the files and messages of a job.
enum JSONText {
  /// One line without a line end, with names in order.
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}
