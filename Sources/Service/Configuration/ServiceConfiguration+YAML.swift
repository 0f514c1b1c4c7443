import JSON
import JobProtocol
import Media
import OptionValues
import SQLStore
import Yams

/// Why a file of settings cannot be used: all its problems, each with its line.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  package struct Problem: Sendable, Hashable {
    /// The first line is 1.
    package var line: Int
    package var sentence: String
  }

  package var problems: [Problem]

  package init(_ problems: [Problem]) {
    self.problems = problems
  }

  package var description: String { problems.map { "line \($0.line): \($0.sentence)" }.joined(separator: "\n") }
}

extension ServiceConfiguration {
  /// The maximum size of a file of settings in bytes.
  package static let maximumFileBytes = 65_536

  /// Reads settings from YAML. An unknown key or a bad value is an error. Aliases are refused: a few lines of them stand for
  /// more nodes than fit into memory.
  package init(yaml text: String) throws(ConfigurationError) {
    self.init()
    guard let root = try Self.document(in: text) else { return }
    var configuration = self
    let reader = SettingsReader()
    reader.mapping(
      root, "",
      [
        "listen": { node in
          guard let text = reader.text(node, "listen") else { return }
          do throws(ListenAddress.ParseError) {
            configuration.listen = try ListenAddress(text)
          } catch {
            reader.report(error.description, at: node)
          }
        },
        "tls": { configuration.tls = Self.tls($0, reader) },
        "plainHTTP": { configuration.allowsPlainHTTP = reader.boolean($0, "plainHTTP") ?? false },
        "data": { configuration.data = reader.text($0, "data") ?? configuration.data },
        "database": { configuration.database = Self.database($0, reader) },
        "store": { configuration.store = Self.store($0, reader) },
        "servers": { configuration.servers = Self.servers($0, reader) },
        "allowAnyServer": { configuration.allowsAnyServer = reader.boolean($0, "allowAnyServer") ?? false },
        "media": { configuration.media = Self.media($0, reader) },
        "library": { configuration.library = reader.text($0, "library") },
        "record": { configuration.record = Self.record($0, reader) },
        "limits": { configuration.limits = Self.limits($0, reader) },
        "retention": { node in
          reader.mapping(
            node, "retention",
            [
              "recordings": {
                configuration.retention.recordings = reader.time(
                  $0, "recordings", atLeast: TimeSpan(milliseconds: 60_000))
              },
              "jobs": { node in
                // Keys of submissions are kept for a day.
                if reader.isWord(node, "never") { return configuration.retention.jobs = nil }
                configuration.retention.jobs =
                  reader.time(node, "jobs", atLeast: TimeSpan(milliseconds: 86_400_000)) ?? configuration.retention.jobs
              },
              "local": {
                configuration.retention.local = reader.time($0, "local") ?? configuration.retention.local
              },
            ])
        },
        "drainTimeout": {
          configuration.drainTimeout = reader.time($0, "drainTimeout") ?? configuration.drainTimeout
        },
        "orphanLimit": {
          configuration.orphanLimit =
            reader.time($0, "orphanLimit", atLeast: TimeSpan(milliseconds: 10_000)) ?? configuration.orphanLimit
        },
        "tokensFile": { configuration.tokensFile = reader.text($0, "tokensFile") },
        "secretKeyFile": { configuration.secretKeyFile = reader.text($0, "secretKeyFile") },
        "webhooks": { configuration.webhooks = Self.webhooks($0, reader) },
        "page": { configuration.page = Self.page($0, reader) },
        "node": { configuration.node = Self.nodeName($0, reader) },
        "advertise": { configuration.advertise = Self.advertised($0, reader) },
        "clusterTokenFile": { configuration.clusterTokenFile = reader.text($0, "clusterTokenFile") },
        "clusterCA": { configuration.clusterCA = reader.text($0, "clusterCA") },
        "nodeLossTimeout": {
          configuration.nodeLossTimeout =
            reader.time($0, "nodeLossTimeout", atLeast: TimeSpan(milliseconds: 60_000)) ?? configuration.nodeLossTimeout
        },
        "log": { node in
          reader.mapping(
            node, "log",
            [
              "format": {
                configuration.log.format = reader.choice($0, "format", Log.Format.self) ?? configuration.log.format
              },
              "level": {
                configuration.log.level = reader.choice($0, "level", Log.Level.self) ?? configuration.log.level
              },
            ])
        },
      ])
    if !reader.problems.isEmpty { throw ConfigurationError(reader.problems.sorted { $0.line < $1.line }) }
    self = configuration
  }
}

extension ServiceConfiguration {
  private static func tls(_ node: Node, _ reader: SettingsReader) -> TLSFiles? {
    var (certificate, key): (String?, String?)
    let before = reader.problems.count
    reader.mapping(
      node, "tls",
      [
        "certificate": { certificate = reader.text($0, "certificate") },
        "key": { key = reader.text($0, "key") },
      ])
    if let certificate, let key { return TLSFiles(certificate: certificate, key: key) }
    if reader.problems.count == before { reader.report("“tls” needs the files “certificate” and “key”.", at: node) }
    return nil
  }

  private static func nodeName(_ node: Node, _ reader: SettingsReader) -> String? {
    guard let name = reader.text(node, "node") else { return nil }
    guard isName(name) else {
      reader.report("“node” has 1 to 64 ASCII letters, digits, “-”, “_” and “.”.", at: node)
      return nil
    }
    return name
  }

  private static func advertised(_ node: Node, _ reader: SettingsReader) -> String? {
    guard let url = reader.text(node, "advertise", maximumBytes: 1_024) else { return nil }
    let isURL =
      (url.utf8.starts(with: "http://".utf8) || url.utf8.starts(with: "https://".utf8))
      && url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isURL else {
      reader.report("“advertise” must be the URL of this service, like https://recorder-1.example:8443.", at: node)
      return nil
    }
    return url
  }

  private static func database(_ node: Node, _ reader: SettingsReader) -> Database? {
    var database = Database(url: "")
    let before = reader.problems.count
    reader.mapping(
      node, "database",
      [
        "url": { node in
          guard let url = reader.text(node, "url", maximumBytes: 2_048) else { return }
          if let problem = PostgreSQLSettings.problem(url) { reader.report("“url”: \(problem)", at: node) }
          database.url = url
        },
        "passwordFile": { database.passwordFile = reader.text($0, "passwordFile") },
        "connections": {
          database.connections = reader.integer($0, "connections", in: 1...64) ?? database.connections
        },
        "listen": { database.listens = reader.boolean($0, "listen") ?? database.listens },
      ])
    if !database.url.isEmpty { return database }
    if reader.problems.count == before { reader.report("“database” needs a “url”.", at: node) }
    return nil
  }

  private static func servers(_ node: Node, _ reader: SettingsReader) -> [String: Server] {
    var servers: [String: Server] = [:]
    for (name, keyNode, value) in reader.entries(of: node, "servers") {
      guard isName(name) else {
        reader.report("The name of a server has 1 to 64 ASCII letters, digits, “-”, “_” and “.”.", at: keyNode)
        continue
      }
      servers[name] = Self.server(value, name, reader)
    }
    return servers
  }

  private static func server(_ node: Node, _ name: String, _ reader: SettingsReader) -> Server? {
    // “main: wss://calls.example” is short for a server with only a URL.
    if case .scalar = node { return Self.url(node, reader).map { Server(url: $0) } }
    var server = Server(url: "")
    let before = reader.problems.count
    reader.mapping(
      node, name,
      [
        "url": { server.url = Self.url($0, reader) ?? "" },
        "iceServers": { node in
          guard let urls = reader.texts(node, "iceServers") else { return }
          let schemes = ["stun:", "stuns:", "turn:", "turns:"]
          guard urls.allSatisfy({ url in schemes.contains { url.utf8.starts(with: $0.utf8) } }) else {
            reader.report("“iceServers” are URLs like stun:stun.example or turn:turn.example:3478.", at: node)
            return
          }
          server.iceServers = urls
        },
        "iceCredentialsFile": { server.iceCredentialsFile = reader.text($0, "iceCredentialsFile") },
        "ca": { server.ca = reader.text($0, "ca") },
        "privateCandidates": { server.allowsPrivateCandidates = reader.boolean($0, "privateCandidates") },
      ])
    guard server.url.isEmpty else { return server }
    if reader.problems.count == before { reader.report("The server “\(name)” needs a “url”.", at: node) }
    return nil
  }

  private static func url(_ node: Node, _ reader: SettingsReader) -> String? {
    guard let url = reader.text(node, "url", maximumBytes: 2_048) else { return nil }
    guard url.contains("://"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      reader.report("“url” must be the address of a signalling server, like wss://calls.example.", at: node)
      return nil
    }
    return url
  }

  private static func media(_ node: Node, _ reader: SettingsReader) -> Media {
    var media = Media()
    reader.mapping(
      node, "media",
      [
        "udpPorts": { node in
          let bounds = (reader.text(node, "udpPorts") ?? "").split(separator: "-", omittingEmptySubsequences: false)
            .map { UInt16($0) }
          if bounds.count == 2, let first = bounds[0], let last = bounds[1], first >= 1, first <= last {
            media.udpPorts = first...last
          } else {
            reader.report("“udpPorts” must be a range of ports, like 40000-40999.", at: node)
          }
        },
        "bindAddress": { media.bindAddress = reader.text($0, "bindAddress", maximumBytes: 64) },
      ])
    return media
  }

  private static func limits(_ node: Node, _ reader: SettingsReader) -> Limits {
    var limits = Limits()
    reader.mapping(
      node, "limits",
      [
        "cpu": {
          limits.cpu = reader.percentage($0, "cpu", atMost: ServiceConfiguration.Limits.maximumCPU) ?? limits.cpu
        },
        "memory": { limits.memory = reader.percentage($0, "memory") ?? limits.memory },
        "udpPorts": { limits.udpPorts = reader.percentage($0, "udpPorts") ?? limits.udpPorts },
        "minimumFree": { limits.minimumFree = reader.size($0, "minimumFree") ?? limits.minimumFree },
        "requests": { limits.requests = reader.integer($0, "requests", in: 1...100_000) ?? limits.requests },
        "failures": { limits.failures = reader.integer($0, "failures", in: 1...100_000) ?? limits.failures },
        "connections": {
          limits.connections = reader.integer($0, "connections", in: 1...100_000) ?? limits.connections
        },
      ])
    return limits
  }

  private static func page(_ node: Node, _ reader: SettingsReader) -> Page {
    var page = Page()
    if case .scalar = node {
      page.isEnabled = reader.boolean(node, "page") ?? true
      return page
    }
    reader.mapping(
      node, "page",
      [
        "enabled": { page.isEnabled = reader.boolean($0, "enabled") ?? true },
        "snapshots": { page.showsSnapshots = reader.boolean($0, "snapshots") ?? false },
      ])
    return page
  }

  private static func record(_ node: Node, _ reader: SettingsReader) -> [String: JSONValue] {
    var options: [String: JSONValue] = [:]
    for (name, keyNode, value) in reader.entries(of: node, "record") {
      guard name.utf8.count <= 64, let read = reader.value(value, name) else {
        if name.utf8.count > 64 { reader.report("The name is too long.", at: keyNode) }
        continue
      }
      options[name] = read
      for problem in JobOptions.validate(.object([name: read]), of: .record, at: "") {
        reader.report("“record”: \(problem.sentence)", at: keyNode)
      }
    }
    return options
  }
}

extension ServiceConfiguration {
  /// Parses the document; nil if it is empty.
  private static func document(in text: String) throws(ConfigurationError) -> Node? {
    guard text.utf8.count <= maximumFileBytes else {
      throw ConfigurationError([.init(line: 1, sentence: "The file has more than \(maximumFileBytes) bytes.")])
    }
    var opened = 0
    // By bytes: a carriage return and a line feed are one character.
    for (index, bytes) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
    {
      let line = String(decoding: bytes, as: UTF8.self)
      guard line.utf8.count <= 1_024 else {
        throw ConfigurationError([.init(line: index + 1, sentence: "The line has more than 1024 bytes.")])
      }
      opened += line.utf8.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
      guard opened <= 500, !hasAlias(line) else {
        let sentence = opened > 500 ? "There are too many brackets." : "Anchors and aliases cannot be used."
        throw ConfigurationError([.init(line: index + 1, sentence: sentence)])
      }
    }
    do {
      // Its resolver and constructor are not used: each setting knows its type.
      return try Parser(yaml: text, encoding: .utf8).singleRoot()
    } catch {
      throw ConfigurationError([problem(of: error)])
    }
  }

  /// Whether a line has a word that begins with `&` or `*` outside quotes and comments.
  private static func hasAlias(_ line: String) -> Bool {
    var quote: UInt8?
    var previous = UInt8(ascii: " ")
    let starts = Set(" \t[{,:-?".utf8)
    for byte in line.utf8 {
      defer { previous = byte }
      if let open = quote {
        if byte == open { quote = nil }
        continue
      }
      guard starts.contains(previous) else { continue }
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: "#"): return false
      case UInt8(ascii: "&"), UInt8(ascii: "*"): return true
      default: break
      }
    }
    return false
  }

  private static func problem(of error: any Error) -> ConfigurationError.Problem {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
      .composer(_, let problem, let mark, _)?:
      .init(line: mark.line, sentence: "This is not YAML: \(problem).")
    case .duplicatedKeysInMapping(let keys, let context)?:
      .init(
        line: context.mark.line,
        sentence: "“\((keys.sorted().first ?? "").printable(utf8Bytes: 60))” is given twice.")
    case .reader?: .init(line: 1, sentence: "The file has bytes that are not text.")
    default: .init(line: 1, sentence: "This is not YAML.")
    }
  }
}
