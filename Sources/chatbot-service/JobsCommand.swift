import ArgumentParser
import FoundationEssentials
import JSON
import Media
import Service

struct JobsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs", abstract: "Submit, list and control jobs of a running service.",
    subcommands: [
      SubmitCommand.self, ListCommand.self, ShowCommand.self, StopCommand.self, PauseCommand.self, ResumeCommand.self,
      EventsCommand.self, LogsCommand.self,
    ])
}

struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List jobs, newest first.")

  @OptionGroup var client: ClientOptions
  @Option(help: "Only jobs in these states, separated by commas.") var state: String?
  @Option(help: "Only jobs of these kinds, separated by commas.") var kind: String?
  @Option(help: "Only jobs of this room.") var room: String?
  @Option(help: ArgumentHelp("Only jobs with this label; repeatable.", valueName: "name=value")) var label: [String] =
    []
  @Option(help: "How many jobs at most.") var limit = 50

  func run() async throws {
    var query = ["limit=\(limit)"]
    for (name, value) in [("state", state), ("kind", kind), ("room", room)] {
      if let value { query.append("\(name)=\(PercentEncoding.encode(value))") }
    }
    for (name, value) in try LabelArgument.parse(label) {
      query.append("label.\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))")
    }
    let path = "/v1/jobs?\(query.joined(separator: "&"))"
    let list = try await client.call { try await $0.json("GET", path) }
    client.print(list) { list in
      guard case .array(let jobs)? = list["jobs"], !jobs.isEmpty else { return "There are no such jobs." }
      return jobs.map(Shown.line).joined(separator: "\n")
    }
  }
}

/// The id of a job, which becomes a part of a path.
struct JobArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The id of the job.", valueName: "job"))
  var id: String

  var path: String { "/v1/jobs/\(PercentEncoding.encode(id))" }
}

struct ShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a job.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var job: JobArgument

  func run() async throws {
    let value = try await client.call { try await $0.json("GET", job.path) }
    client.print(value, as: Shown.job)
  }
}

struct StopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stop a job. It succeeds also for a job that has ended.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var job: JobArgument

  func run() async throws {
    let value = try await client.call { try await $0.json("POST", job.path + "/stop") }
    client.print(value) { Shown.line($0["job"] ?? .null) }
  }
}

/// Which users a command is about.
struct UserSelection: ParsableArguments {
  @Option(help: ArgumentHelp("The id of a user; repeatable. (default: everybody)", valueName: "id"))
  var user: [String] = []

  var body: JSONValue {
    user.isEmpty ? .object([:]) : .object(["users": .array(user.map { .string(UntrustedText($0)) })])
  }
}

struct PauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause a recording: nothing of the interval is stored.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var job: JobArgument
  @OptionGroup var users: UserSelection

  func run() async throws {
    let value = try await client.call { try await $0.json("POST", job.path + "/pause", body: users.body) }
    client.print(value) { "\(Shown.line($0["job"] ?? .null))\neffective at \(Shown.text($0["effectiveAt"]))" }
  }
}

struct ResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Resume a recording.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var job: JobArgument
  @OptionGroup var users: UserSelection

  func run() async throws {
    let value = try await client.call { try await $0.json("POST", job.path + "/resume", body: users.body) }
    client.print(value) { "\(Shown.line($0["job"] ?? .null))\neffective at \(Shown.text($0["effectiveAt"]))" }
  }
}

struct EventsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "Show what happened to a job, or to all jobs.",
    discussion: """
      With --follow and a job, the command ends with the job. When the connection is lost, it connects again and goes on behind the last \
      event.
      """)

  @OptionGroup var client: ClientOptions
  @Argument(help: ArgumentHelp("The id of the job. (default: all jobs)", valueName: "job")) var id: String?
  @Flag(help: "Wait for further events.") var follow = false
  @Option(help: "Only events after the one with this id.") var after: String?

  func run() async throws {
    let path = id.map { "/v1/jobs/\(PercentEncoding.encode($0))/events" } ?? "/v1/events"
    let (options, isOfJob) = (client, id != nil)
    try await client.call { client in
      guard follow else { return try await pages(client, path) }
      var reconnecting = APIClient.Reconnecting()
      reconnecting.lost = { ServiceExit.report("\($0) Connecting again.") }
      try await client.follow(path, after: after, reconnecting) { event in
        options.print(event, as: Shown.event)
        let ends = ["job.finished", "job.failed", "job.cancelled"]
        return !isOfJob || !ends.contains(event["type"]?.string?.ascii ?? "")
      }
    }
  }

  private func pages(_ client: APIClient, _ path: String) async throws {
    var after = after
    while true {
      let query = after.map { "?after=\(PercentEncoding.encode($0))" } ?? ""
      let list = try await client.json("GET", path + query)
      guard case .array(let events)? = list["events"], !events.isEmpty else { return }
      for event in events { self.client.print(event, as: Shown.event) }
      after = list["after"]?.string?.ascii
    }
  }
}

struct LogsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logs", abstract: "Show the end of the log of a job's process.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var job: JobArgument
  @Option(help: "How many lines at most.") var limit = 1_000

  func run() async throws {
    let answer = try await client.call { client in
      let answer = try await client.send("GET", "\(job.path)/logs?limit=\(limit)")
      if answer.status != 200 { _ = try await client.json("GET", "\(job.path)/logs?limit=\(limit)") }
      return answer
    }
    let text = String(decoding: answer.body, as: UTF8.self)
    print(client.json ? text : text.printable(utf8Bytes: 4 << 20, keeping: ["\n"]), terminator: "")
  }
}
