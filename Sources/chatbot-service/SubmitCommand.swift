import ArgumentParser
import FoundationEssentials
import JSON
import Media
import OptionValues
import Service

/// A label as an argument, `name=value`.
enum LabelArgument {
  static func parse(_ texts: [String]) throws -> [(String, String)] {
    try texts.map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("A label is name=value, not “\(text)”.") }
      return (String(parts[0]), String(parts[1]))
    }
  }
}

struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submit a job.",
    discussion: """
      chatbot-service jobs submit --room 100
      chatbot-service jobs submit --room 100 --duration 4h --label meeting=42 --option segment=60s
      chatbot-service jobs submit --room 100 --kind play --option input=pattern

      Options of the kind are those of the API: --option NAME=VALUE, where true, false and numbers are what they look like.
      """)

  @OptionGroup var client: ClientOptions
  @Option(help: "record, play, loopback or check.") var kind = "record"
  @Option(help: "The name of a server of the service's settings. (default: main, or the only one)") var server: String?
  @Option(help: "The room to join. (default: the server's default room)") var room: String?
  @Option(help: "The user as whom the job logs in.") var user: String?
  @Option(help: ArgumentHelp("A label; repeatable.", valueName: "name=value")) var label: [String] = []
  @Option(help: "At most one job with this key runs.") var uniqueKey: String?
  @Option(help: ArgumentHelp("An option of the kind; repeatable.", valueName: "name=value")) var option: [String] = []
  @Option(help: ArgumentHelp("The job ends after this time.", valueName: "time")) var duration: String?
  @Option(
    help: ArgumentHelp(
      "The job ends when nobody was there for this time; none for never. (default: 60s)", valueName: "time"))
  var emptyFor: String?
  @Option(
    help: ArgumentHelp(
      "The job ends when nobody came within this time; none for never. (default: 10m)", valueName: "time"))
  var nobodyWithin: String?
  @Option(help: ArgumentHelp("When the job begins, like 2026-12-01T09:00:00Z. (default: at once)", valueName: "time"))
  var startAt: String?
  @Option(help: ArgumentHelp("How long the job waits for capacity. (default: 0s)", valueName: "time")) var queueFor:
    String?
  @Option(help: ArgumentHelp("A file with the room's PIN.", valueName: "file"), completion: .file()) var pinFile:
    String?
  @Option(help: "A key with which the submission can be repeated safely.") var idempotencyKey: String?
  @Option(
    help: ArgumentHelp("A file with the whole job as JSON; - is standard input.", valueName: "file"),
    completion: .file()) var file: String?

  func run() async throws {
    let body = try file.map(Self.read) ?? fields()
    let headers = idempotencyKey.map { ["Idempotency-Key": $0] } ?? [:]
    let job = try await client.call { try await $0.json("POST", "/v1/jobs", body: body, headers: headers) }
    client.print(job, as: Shown.line)
  }

  private func fields() throws -> JSONValue {
    func text(_ text: String) -> JSONValue { .string(UntrustedText(text)) }
    var fields: [String: JSONValue] = ["kind": text(kind)]
    let texts = [
      ("server", server), ("room", room), ("user", user), ("uniqueKey", uniqueKey), ("startAt", startAt),
      ("queueFor", queueFor),
    ]
    for (name, value) in texts { if let value { fields[name] = text(value) } }
    let labels = try LabelArgument.parse(label)
    if !labels.isEmpty { fields["labels"] = .object(Dictionary(labels.map { ($0, text($1)) }) { $1 }) }
    let options = try LabelArgument.parse(option).map { ($0, Self.value($1)) }
    if !options.isEmpty { fields[kind] = .object(Dictionary(options) { $1 }) }
    var end: [String: JSONValue] = [:]
    for (name, value) in [("duration", duration), ("emptyFor", emptyFor), ("nobodyWithin", nobodyWithin)] {
      if let value { end[name] = value == "none" ? .null : text(value) }
    }
    if !end.isEmpty { fields["end"] = .object(end) }
    if let pinFile {
      do throws(BoundedFile.ReadError) {
        guard let pin = try SecretFile(path: pinFile, variable: "").read() else { return .object(fields) }
        fields["secrets"] = .object(["pin": text(pin)])
      } catch {
        throw ValidationError(error.sentence)
      }
    }
    return .object(fields)
  }

  private static func value(_ text: String) -> JSONValue {
    switch text {
    case "true": .bool(true)
    case "false": .bool(false)
    default:
      if text.utf8.count <= 15, let number = Int64(text) {
        .number(Double(number))
      } else {
        .string(UntrustedText(text))
      }
    }
  }

  private static func read(_ path: String) throws -> JSONValue {
    do {
      let data = try BoundedFile.read(path == "-" ? "/dev/stdin" : path, longest: APIResponder.maximumBody)
      let limits = JSONLimits(
        bytes: APIResponder.maximumBody, values: 4_000, depth: 10, nameBytes: 512, nameRunOutsideASCII: 256)
      return try JSONReader.decode(JSONValue.self, from: data, within: limits)
    } catch let error as BoundedFile.ReadError {
      throw ValidationError(error.sentence)
    } catch {
      throw ValidationError("\(path) is not the JSON of a job.")
    }
  }
}
