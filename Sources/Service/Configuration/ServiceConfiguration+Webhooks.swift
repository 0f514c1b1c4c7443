import JSON
import JobProtocol
import Media
import Yams

extension ServiceConfiguration {
  /// Who gets the events of jobs.
  package struct Webhooks: Sendable, Hashable {
    /// The secrets that receivers may name.
    package var secrets: [String: Secret] = [:]
    /// The receivers of jobs that name none.
    package var defaults: [WebhookRequest] = []
    /// Whether receivers may be on this machine and in private networks, and have no TLS.
    package var allowsPrivate = false
    /// A PEM file with CA certificates to trust in addition to those of the system.
    package var ca: String?

    package init() {}

    package struct Secret: Sendable, Hashable {
      /// A file with one or two secrets, a line each, which is read again when it changes.
      package var file: String
      /// The projects whose jobs may name it; empty: all.
      package var projects: [String] = []

      package init(file: String, projects: [String] = []) {
        self.file = file
        self.projects = projects
      }
    }
  }

  static func webhooks(_ node: Node, _ reader: SettingsReader) -> Webhooks {
    var webhooks = Webhooks()
    var defaults: Node?
    reader.mapping(
      node, "webhooks",
      [
        "secrets": { webhooks.secrets = secrets($0, reader) },
        "defaults": { defaults = $0 },
        "allowPrivate": { webhooks.allowsPrivate = reader.boolean($0, "allowPrivate") ?? false },
        "ca": { webhooks.ca = reader.text($0, "ca") },
      ])
    // They name secrets, and what a URL may be depends on `allowPrivate`: so they come last, wherever they stand.
    if let defaults { webhooks.defaults = Self.defaults(defaults, webhooks, reader) }
    return webhooks
  }

  private static func secrets(_ node: Node, _ reader: SettingsReader) -> [String: Webhooks.Secret] {
    var secrets: [String: Webhooks.Secret] = [:]
    for (name, keyNode, value) in reader.entries(of: node, "secrets") {
      guard isName(name) else {
        reader.report("The name of a secret has 1 to 64 ASCII letters, digits, “-”, “_” and “.”.", at: keyNode)
        continue
      }
      // “app: FILE” is short for a secret that all projects may name.
      if case .scalar = value {
        secrets[name] = reader.text(value, name).map { Webhooks.Secret(file: $0) }
        continue
      }
      var (file, projects): (String?, [String]) = (nil, [])
      let before = reader.problems.count
      reader.mapping(
        value, name,
        [
          "file": { file = reader.text($0, "file") },
          "projects": { node in
            projects = reader.texts(node, "projects") ?? []
            // An empty list would be all of them.
            if case .sequence(let list) = node, list.isEmpty {
              reader.report("“projects” needs a project; without the key, all projects may name the secret.", at: node)
            }
          },
        ])
      if let file {
        secrets[name] = Webhooks.Secret(file: file, projects: projects)
      } else if reader.problems.count == before {
        reader.report("The secret “\(name)” needs a “file”.", at: keyNode)
      }
    }
    return secrets
  }

  private static func defaults(_ node: Node, _ webhooks: Webhooks, _ reader: SettingsReader) -> [WebhookRequest] {
    guard case .sequence(let sequence) = node, sequence.count <= WebhookRequest.maximumWebhooks else {
      reader.report("“defaults” must be a list of at most \(WebhookRequest.maximumWebhooks) receivers.", at: node)
      return []
    }
    return sequence.compactMap { item in
      var fields: [String: JSONValue] = [:]
      let before = reader.problems.count
      reader.mapping(
        item, "defaults",
        [
          "url": { fields["url"] = reader.text($0, "url").map { .text($0) } },
          "events": { fields["events"] = reader.texts($0, "events").map { .array($0.map { .text($0) }) } },
          "secret": { fields["secret"] = reader.text($0, "secret").map { .text($0) } },
        ])
      guard reader.problems.count == before else { return nil }
      let parsed = WebhookRequest.parse(.object(fields), at: "", project: nil, settings: webhooks)
      for problem in parsed.problems { reader.report("“defaults”: \(problem.sentence)", at: item) }
      if let name = parsed.webhook?.secret, webhooks.secrets[name]?.projects.isEmpty == false {
        reader.report("“defaults”: The secret “\(name)” is not for all projects.", at: item)
        return nil
      }
      return parsed.webhook
    }
  }
}
