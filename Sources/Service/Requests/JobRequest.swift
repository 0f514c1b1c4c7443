import FoundationEssentials
package import JSON
package import JobProtocol
import Media
import OptionValues

/// What a caller asks for with `POST /v1/jobs`, checked, and with the defaults of the configuration. Without secrets.
///
/// ``stored`` is what the database keeps as `request`; ``init(stored:)`` reads it again.
package struct JobRequest: Sendable, Hashable {
  package var kind: JobKind
  /// A name of the configuration, or a URL where any server is allowed.
  package var server: String
  /// Nil: the server's default room.
  package var room: String?
  package var user: String?
  /// By their names in `JobOptions`.
  package var options: [String: JSONValue] = [:]
  package var end = JobEnd()
  /// Milliseconds since 1970.
  package var startAt: Int64?
  /// In milliseconds.
  package var queueFor: Int64 = 0
  package var labels: [String: String] = [:]
  package var uniqueKey: String?
  /// Who gets the events of the job.
  package var webhooks: [WebhookRequest] = []

  package static let maximumLabels = 16
  package static let maximumLabelName = 64
  package static let maximumLabelValue = 256
  package static let maximumUniqueKey = 255
  package static let maximumRoom = JobSpecification.maximumRoom
  package static let maximumUser = 256
  /// 24 hours.
  package static let maximumQueueFor: Int64 = 86_400_000

  package init(kind: JobKind, server: String) {
    self.kind = kind
    self.server = server
  }

  /// Whether every user begins paused.
  package var requiresConsent: Bool { options["consent"]?.string?.ascii == "required" }

  /// Who is paused when the first attempt begins.
  package var initialPause: PauseState { requiresConsent ? PauseState(all: true) : .none }
}

extension JobRequest {
  /// The fields of the body that are the same for all kinds. The options of a kind are in an object with the kind's name.
  package static let fields = [
    "kind", "server", "room", "user", "secrets", "end", "startAt", "queueFor", "labels", "uniqueKey",
    "webhooks",
  ]

  /// Checks a body.
  ///
  /// - Parameter project: whose job it is; nil: one that may name all secrets of receivers.
  /// - Throws: every problem, each with its pointer.
  package static func parse(
    _ body: JSONValue, configuration: ServiceConfiguration, project: String? = nil
  ) throws(JobRequestError) -> (request: JobRequest, secrets: JobSecrets) {
    var reader = Reader(configuration: configuration, project: project)
    guard let parsed = reader.read(body), reader.problems.isEmpty else {
      throw JobRequestError(
        problems: reader.problems.isEmpty ? [JobProblem("", "The job cannot be read.")] : reader.problems)
    }
    return parsed
  }
}

/// What is wrong with a submitted job.
package struct JobRequestError: Error, Sendable, Hashable {
  package var problems: [JobProblem]
}

private struct Reader {
  let configuration: ServiceConfiguration
  let project: String?
  var problems: [JobProblem] = []

  mutating func read(_ body: JSONValue) -> (JobRequest, JobSecrets)? {
    guard case .object(let fields) = body else {
      problems.append(JobProblem("", "A job is an object."))
      return nil
    }
    let kinds = JobKind.allCases.map(\.rawValue)
    guard let kindText = fields["kind"] else {
      problems.append(JobProblem("/kind", "A job needs a kind: \(kinds.joined(separator: ", "))."))
      return nil
    }
    guard let kind = kindText.string?.ascii.flatMap({ JobKind(rawValue: $0) }) else {
      problems.append(JobProblem("/kind", "The kind is one of \(kinds.joined(separator: ", "))."))
      return nil
    }
    for name in fields.keys.sorted() where name != kind.rawValue && !JobRequest.fields.contains(name) {
      let place = JobProblem.pointer("", name.printable(utf8Bytes: 64))
      let isOther = kinds.contains(name)
      problems.append(
        JobProblem(
          place,
          isOther
            ? "The kind of the job is \(kind.rawValue), so it has no options of \(name)." : "There is no such field."))
    }
    var request = JobRequest(kind: kind, server: readServer(fields["server"]))
    request.room = text(fields["room"], "/room", "The room", characters: JobRequest.maximumRoom)
    request.user = text(fields["user"], "/user", "The user", bytes: JobRequest.maximumUser)
    request.uniqueKey = ascii(fields["uniqueKey"], "/uniqueKey", "uniqueKey", JobRequest.maximumUniqueKey)
    request.labels = readLabels(fields["labels"])
    request.startAt = readTime(fields["startAt"])
    request.queueFor = readQueueFor(fields["queueFor"])
    request.webhooks = readWebhooks(fields["webhooks"])
    request.options = readOptions(fields[kind.rawValue], of: kind)
    if let end = fields["end"] {
      do throws(JobProblem) {
        request.end = try JobEnd(parsing: end, at: "/end")
      } catch {
        problems.append(error)
      }
    }
    return (request, readSecrets(fields["secrets"]))
  }

  private mutating func readServer(_ value: JSONValue?) -> String {
    let names = configuration.servers.keys.sorted()
    guard let value else {
      if names.contains(ServiceConfiguration.defaultServer) { return ServiceConfiguration.defaultServer }
      if names.count == 1, let only = names.first { return only }
      problems.append(JobProblem("/server", "A job needs a server."))
      return ""
    }
    guard let text = value.string?.ascii, (1...2_048).contains(text.utf8.count) else {
      problems.append(JobProblem("/server", "The server is a name of the configuration."))
      return ""
    }
    if configuration.servers[text] != nil { return text }
    guard configuration.allowsAnyServer else {
      problems.append(JobProblem("/server", "There is no such server."))
      return ""
    }
    if let sentence = ServerURL.problem(text) { problems.append(JobProblem("/server", sentence)) }
    return text
  }

  private mutating func readOptions(_ value: JSONValue?, of kind: JobKind) -> [String: JSONValue] {
    let pointer = "/\(kind.rawValue)"
    var options = kind == .record ? configuration.recordDefaults : [:]
    if let value {
      guard case .object(let given) = value else {
        problems.append(JobProblem(pointer, "The options are an object."))
        return [:]
      }
      options.merge(given) { $1 }
    }
    problems += JobOptions.validate(.object(options), of: kind, at: pointer)
    if let input = options["input"]?.string, input != UntrustedText(JobOption.pattern), configuration.library == nil {
      problems.append(
        JobProblem("\(pointer)/input", "There is no library, so only “\(JobOption.pattern)” can be played."))
    }
    return options
  }

  private mutating func readSecrets(_ value: JSONValue?) -> JobSecrets {
    var secrets = JobSecrets()
    guard let value else { return secrets }
    guard case .object(let fields) = value else {
      problems.append(JobProblem("/secrets", "The secrets are an object."))
      return secrets
    }
    let known: [String: WritableKeyPath<JobSecrets, String?>] = [
      "pin": \.pin, "token": \.token, "apiSecret": \.apiSecret, "roomToken": \.roomToken,
    ]
    for name in fields.keys.sorted() {
      guard let field = known[name] else {
        // The name is not repeated: it may be a secret in the wrong place.
        problems.append(JobProblem("/secrets", "The secrets are \(known.keys.sorted().joined(separator: ", "))."))
        continue
      }
      guard let text = fields[name]?.string, (1...4_096).contains(text.utf8.count),
        text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
      else {
        problems.append(JobProblem("/secrets/\(name)", "A secret has 1 to 4096 bytes without spaces."))
        continue
      }
      secrets[keyPath: field] = text.string
    }
    do {
      // As the process reads them: of Unicode, there are further spaces.
      secrets = try JobSecrets(parsing: try secrets.json)
    } catch {
      problems.append(
        JobProblem("/secrets", "Secrets have no spaces, and \(JobSecrets.maximumBytes) bytes of JSON together."))
    }
    return secrets
  }

  private mutating func readLabels(_ value: JSONValue?) -> [String: String] {
    guard let value else { return [:] }
    guard case .object(let fields) = value, fields.count <= JobRequest.maximumLabels else {
      problems.append(JobProblem("/labels", "The labels are an object of at most \(JobRequest.maximumLabels) texts."))
      return [:]
    }
    var labels: [String: String] = [:]
    for name in fields.keys.sorted() {
      let place = JobProblem.pointer("/labels", name.printable(utf8Bytes: 64))
      guard (1...JobRequest.maximumLabelName).contains(name.utf8.count),
        name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else {
        problems.append(
          JobProblem(
            place, "The name of a label has 1 to \(JobRequest.maximumLabelName) ASCII characters without spaces."))
        continue
      }
      guard let text = fields[name]?.string, text.utf8.count <= JobRequest.maximumLabelValue,
        !text.utf8.contains(0)
      else {
        problems.append(
          JobProblem(place, "The value of a label is a text of at most \(JobRequest.maximumLabelValue) bytes."))
        continue
      }
      labels[name] = text.string
    }
    return labels
  }

  private mutating func readWebhooks(_ value: JSONValue?) -> [WebhookRequest] {
    guard let value else { return configuration.webhooks.defaults }
    let parsed = WebhookRequest.parse(
      list: value, at: "/webhooks", project: project, settings: configuration.webhooks)
    problems += parsed.problems
    return parsed.webhooks
  }

  private mutating func readTime(_ value: JSONValue?) -> Int64? {
    guard let value else { return nil }
    guard let text = value.string?.ascii, let time = APITime.parse(text) else {
      problems.append(JobProblem("/startAt", "startAt is a time such as 2026-12-01T09:00:00Z."))
      return nil
    }
    return time
  }

  private mutating func readQueueFor(_ value: JSONValue?) -> Int64 {
    guard let value else { return 0 }
    guard let text = value.string?.ascii, text.utf8.count <= 64, let time = try? TimeSpan(text),
      time.milliseconds <= JobRequest.maximumQueueFor
    else {
      problems.append(JobProblem("/queueFor", "queueFor is a time such as 30s, at most 24h."))
      return 0
    }
    return time.milliseconds
  }

  private mutating func text(
    _ value: JSONValue?, _ pointer: String, _ name: String, bytes: Int = .max, characters: Int = .max
  ) -> String? {
    guard let value else { return nil }
    guard let text = value.string, !text.isEmpty, text.utf8.count <= min(bytes, 4 * min(characters, 1 << 20)),
      text.unicodeScalars.count <= characters, !text.utf8.contains(0)
    else {
      let limit = bytes == .max ? "\(characters) characters" : "\(bytes) bytes"
      problems.append(JobProblem(pointer, "\(name) is a text of 1 to \(limit)."))
      return nil
    }
    return text.string
  }

  private mutating func ascii(_ value: JSONValue?, _ pointer: String, _ name: String, _ maximum: Int) -> String? {
    guard let value else { return nil }
    guard let text = value.string?.ascii, (1...maximum).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else {
      problems.append(JobProblem(pointer, "\(name) has 1 to \(maximum) printable ASCII characters."))
      return nil
    }
    return text
  }
}
