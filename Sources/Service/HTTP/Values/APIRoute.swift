package import SQLStore

/// What a path of the API or the page stands for. Pure.
package enum APIRoute: Sendable, Hashable {
  case page(String)
  case openAPI
  case health
  case ready
  case metrics
  case session
  case jobs
  case job(JobID)
  case stop(JobID)
  case pause(JobID)
  case resume(JobID)
  case events
  case jobEvents(JobID)
  case live
  case jobLive(JobID)
  case logs(JobID)
  case snapshot(JobID, user: String)
  case files(JobID)
  case file(JobID, name: String)
  case recording(JobID)
  case nodes
  case drainNode(String)
  case undrainNode(String)
  case deliveries
  case replay(DeliveryID)

  /// - Parameter path: as in the request, without the query.
  /// - Returns: nil if nothing has the path.
  package init?(path: String, page: Set<String> = []) {
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count <= 4_096 else { return nil }
    var parts: [String] = []
    for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let text = PercentEncoding.decode(part) else { return nil }
      parts.append(text)
    }
    switch parts.first {
    case "v1": self.init(versioned: Array(parts.dropFirst()))
    case "openapi.json" where parts.count == 1: self = .openAPI
    case "healthz" where parts.count == 1: self = .health
    case "readyz" where parts.count == 1: self = .ready
    case "metrics" where parts.count == 1: self = .metrics
    default:
      let name = parts == [""] ? "index.html" : parts[0]
      guard parts.count == 1, page.contains(name) else { return nil }
      self = .page(name)
    }
  }

  private init?(versioned parts: [String]) {
    switch parts.first {
    case "session" where parts.count == 1: self = .session
    case "events" where parts.count == 1: self = .events
    case "live" where parts.count == 1: self = .live
    case "nodes" where parts.count == 1: self = .nodes
    case "nodes" where parts.count == 3 && AccessToken.isName(parts[1]) && parts[2] == "drain":
      self = .drainNode(parts[1])
    case "nodes" where parts.count == 3 && AccessToken.isName(parts[1]) && parts[2] == "undrain":
      self = .undrainNode(parts[1])
    case "deliveries" where parts.count == 1: self = .deliveries
    case "deliveries" where parts.count == 3 && parts[2] == "replay":
      guard let id = DeliveryID(parts[1]) else { return nil }
      self = .replay(id)
    case "jobs":
      if parts.count == 1 {
        self = .jobs
        return
      }
      guard let id = JobID(parts[1]) else { return nil }
      self.init(id, Array(parts.dropFirst(2)))
    default: return nil
    }
  }

  private init?(_ id: JobID, _ parts: [String]) {
    switch (parts.first, parts.count) {
    case (nil, _): self = .job(id)
    case ("stop", 1): self = .stop(id)
    case ("pause", 1): self = .pause(id)
    case ("resume", 1): self = .resume(id)
    case ("events", 1): self = .jobEvents(id)
    case ("live", 1): self = .jobLive(id)
    case ("logs", 1): self = .logs(id)
    case ("files", 1): self = .files(id)
    case ("recording", 1): self = .recording(id)
    case ("files", 2) where !parts[1].isEmpty: self = .file(id, name: parts[1])
    case ("users", 3) where parts[2] == "snapshot.png" && !parts[1].isEmpty: self = .snapshot(id, user: parts[1])
    default: return nil
    }
  }

  /// The methods, and the role that each needs; nil for a method that needs no token.
  package var methods: [(method: String, role: TokenRole?)] {
    switch self {
    case .page, .openAPI, .health, .ready: [("GET", nil), ("HEAD", nil)]
    case .session: [("GET", .viewer), ("HEAD", .viewer), ("POST", nil), ("DELETE", nil)]
    case .jobs: [("GET", .viewer), ("HEAD", .viewer), ("POST", .operator)]
    case .stop, .pause, .resume, .replay: [("POST", .operator)]
    case .recording: [("DELETE", .admin)]
    case .drainNode, .undrainNode: [("POST", .admin)]
    case .metrics, .nodes, .job, .events, .jobEvents, .live, .jobLive, .logs, .snapshot, .files, .file,
      .deliveries:
      [("GET", .viewer), ("HEAD", .viewer)]
    }
  }

  /// The job of a route that the node answers which has the job.
  package var jobAtItsNode: JobID? {
    switch self {
    case .stop(let id), .pause(let id), .resume(let id), .jobLive(let id), .logs(let id), .snapshot(let id, _): id
    default: nil
    }
  }

  /// The parameters of the query of a `GET`.
  package var parameters: Set<String> {
    switch self {
    case .jobs: ["state", "kind", "room", "createdAfter", "limit", "after"]
    case .events, .jobEvents, .files: ["after", "limit"]
    case .deliveries: ["state", "job", "limit", "after"]
    case .logs: ["limit"]
    case .file: ["attempt"]
    default: []
    }
  }
}

/// Percent-encoding of URLs (RFC 3986, 2.1).
package enum PercentEncoding {
  /// Returns the text; nil if an escape is broken, if the bytes are not UTF-8, or if one of them is zero.
  package static func decode(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool = false) -> String? {
    var decoded: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(value), let low = iterator.next().flatMap(value) else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(0x20)
      default: decoded.append(byte)
      }
    }
    return decoded.contains(0) ? nil : String(validating: decoded, as: UTF8.self)
  }

  /// Escapes all but letters, digits, `-`, `.`, `_` and `~`.
  package static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-._~".utf8.contains(byte)
      encoded += isPlain ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
