package import JSON
package import JobProtocol
import Media
package import SQLStore
import Webhooks

/// A receiver of a job's events, as a caller or the configuration names it.
package struct WebhookRequest: Sendable, Hashable {
  package var url: String
  package var events: [EventPattern]
  /// The name of a secret in the configuration.
  package var secret: String

  /// The maximum number of receivers of a job, and of patterns of a receiver.
  package static let maximumWebhooks = 4
  package static let maximumPatterns = 32

  package init(url: String, events: [EventPattern] = [.all], secret: String) {
    self.url = url
    self.events = events
    self.secret = secret
  }

  /// Checks one receiver: an object with `url`, `secret` and, unless all are wanted, `events`.
  ///
  /// - Parameters:
  ///   - project: whose job it is; nil for one of the configuration, which are for all projects.
  ///   - pointer: its place.
  package static func parse(
    _ value: JSONValue, at pointer: String, project: String?, settings: ServiceConfiguration.Webhooks
  ) -> (webhook: WebhookRequest?, problems: [JobProblem]) {
    guard case .object(let fields) = value else { return (nil, [JobProblem(pointer, "A receiver is an object.")]) }
    var problems: [JobProblem] = []
    for name in fields.keys.sorted() where !["url", "events", "secret"].contains(name) {
      problems.append(JobProblem(JobProblem.pointer(pointer, name.printable(utf8Bytes: 64)), "There is no such field."))
    }
    var webhook = WebhookRequest(url: "", secret: "")
    if let text = fields["url"]?.string?.ascii {
      do throws(WebhookURL.Problem) {
        webhook.url = try WebhookURL(text, allowsPrivate: settings.allowsPrivate).text
      } catch {
        problems.append(JobProblem("\(pointer)/url", error.description))
      }
    } else {
      problems.append(JobProblem("\(pointer)/url", "A receiver needs a URL, like https://hooks.example/jobs."))
    }
    if let text = fields["secret"]?.string?.ascii, let secret = settings.secrets[text],
      secret.projects.isEmpty || project.map({ secret.projects.contains($0) }) ?? true
    {
      webhook.secret = text
    } else {
      problems.append(
        JobProblem(
          "\(pointer)/secret",
          fields["secret"] == nil ? "A receiver needs the name of a secret." : "There is no such secret."))
    }
    if let value = fields["events"] {
      guard case .array(let values) = value, (1...maximumPatterns).contains(values.count) else {
        problems.append(
          JobProblem("\(pointer)/events", "The events are an array of 1 to \(maximumPatterns) types or patterns."))
        return (nil, problems)
      }
      webhook.events = []
      for (index, value) in values.enumerated() {
        guard let pattern = value.string?.ascii.flatMap({ EventPattern($0) }) else {
          problems.append(
            JobProblem("\(pointer)/events/\(index)", "An event is a type, or a pattern like job.* or *, that fits one.")
          )
          continue
        }
        if !webhook.events.contains(pattern) { webhook.events.append(pattern) }
      }
    }
    return (problems.isEmpty ? webhook : nil, problems)
  }

  /// Checks the receivers of a job.
  package static func parse(
    list value: JSONValue, at pointer: String, project: String?, settings: ServiceConfiguration.Webhooks
  ) -> (webhooks: [WebhookRequest], problems: [JobProblem]) {
    guard case .array(let values) = value, values.count <= maximumWebhooks else {
      return ([], [JobProblem(pointer, "The receivers are an array of at most \(maximumWebhooks).")])
    }
    var (webhooks, problems): ([WebhookRequest], [JobProblem]) = ([], [])
    for (index, value) in values.enumerated() {
      let parsed = parse(value, at: "\(pointer)/\(index)", project: project, settings: settings)
      problems += parsed.problems
      if let webhook = parsed.webhook { webhooks.append(webhook) }
    }
    return (webhooks, problems)
  }

  /// For the database. Nil if the URL is none.
  var stored: NewWebhook? {
    (try? WebhookURL(url, allowsPrivate: true)).map {
      NewWebhook(url: url, origin: $0.origin, events: events, secret: secret)
    }
  }
}

extension WebhookRequest: Codable {
  private enum Keys: String, CodingKey {
    case url, events, secret
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    self.init(
      url: try fields.decode(String.self, forKey: .url),
      events: try fields.decode([String].self, forKey: .events).compactMap { EventPattern($0) },
      secret: try fields.decode(String.self, forKey: .secret))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(url, forKey: .url)
    try fields.encode(events.map(\.description), forKey: .events)
    try fields.encode(secret, forKey: .secret)
  }
}
