import ArgumentParser
import FoundationEssentials
import JSON
import Media
import OptionValues
import Service

/// Where the service is, and with which token it is asked.
struct ClientOptions: ParsableArguments {
  @OptionGroup var configuration: ConfigurationOptions

  @Option(
    help: ArgumentHelp(
      "The address of the service. (default: the variable CHATBOT_SERVICE_URL, else that of the settings)",
      valueName: "url"))
  var url: String?

  @Option(
    help: ArgumentHelp(
      "A file with the token. (default: the variable CHATBOT_SERVICE_TOKEN, else admin.token in the service's folder)",
      valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "CA certificates in PEM to trust for an https address. (default: those of the system)", valueName: "file"),
    completion: .file())
  var caCertificate: String?

  @Flag(help: "Print the JSON of the service.")
  var json = false

  func client() throws -> APIClient {
    let environment = ProcessInfo.processInfo.environment
    let settings = try configuration.read()
    let url = url ?? environment["CHATBOT_SERVICE_URL"]
    do {
      let token: String
      if tokenFile == nil, let variable = environment["CHATBOT_SERVICE_TOKEN"] {
        token = variable
      } else {
        let path = tokenFile ?? "\(settings.data)/admin.token"
        let text = String(decoding: try BoundedFile.read(path, longest: 4_096), as: UTF8.self)
        token = text.split(whereSeparator: \.isWhitespace).first.map { String($0) } ?? ""
      }
      let scheme = settings.tls == nil ? "http" : "https"
      var listen = settings.listen
      if listen.host == "0.0.0.0" { listen.host = "127.0.0.1" }
      if listen.host == "::" { listen.host = "::1" }
      return try APIClient(url: url ?? "\(scheme)://\(listen)", token: token, ca: caCertificate)
    } catch let error as BoundedFile.ReadError {
      ServiceExit.report(error.sentence)
      throw ServiceExit.usage
    } catch let error as APIClient.Failure {
      ServiceExit.report(error.description)
      throw ServiceExit.usage
    }
  }

  /// Calls the service; its problems end the program with a sentence.
  func call<Result>(_ body: (APIClient) async throws -> Result) async throws -> Result {
    let client = try client()
    do {
      return try await body(client)
    } catch let error as APIClient.Failure {
      ServiceExit.report(error.description)
      if case .refused = error { throw ServiceExit.failure }
      throw ServiceExit.unavailable
    }
  }

  func print(_ value: JSONValue, as text: (JSONValue) -> String) {
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      if let data = try? encoder.encode(value) { Swift.print(String(decoding: data, as: UTF8.self)) }
    } else {
      Swift.print(text(value))
    }
  }
}

/// Texts of the service for a terminal: what strangers chose is escaped.
enum Shown {
  static func text(_ value: JSONValue?) -> String {
    switch value {
    case nil, .null?: "-"
    case .string(let text)?: text.string.printable(utf8Bytes: 200)
    case .bool(let value)?: "\(value)"
    case .number(let number)?: number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    case .array(let values)?: values.map { text($0) }.joined(separator: ", ")
    case .object(let fields)?:
      fields.sorted { $0.key < $1.key }.map { "\($0.key.printable(utf8Bytes: 80))=\(text($0.value))" }
        .joined(separator: " ")
    }
  }

  /// One line for a list of jobs.
  static func line(_ job: JSONValue) -> String {
    let paused = job["paused"]?["all"]?.bool == true ? " paused" : ""
    let stalled = job["stalled"]?.bool == true ? " stalled" : ""
    let reason = job["reason"] == .null ? "" : " (\(text(job["reason"])))"
    return
      "\(text(job["id"]))  \(text(job["createdAt"]))  \(text(job["kind"]))  room \(text(job["room"]))  "
      + "\(text(job["state"]))\(paused)\(stalled)\(reason)"
  }

  static func job(_ job: JSONValue) -> String {
    guard case .object(let fields) = job else { return "-" }
    let width = fields.keys.map(\.count).max() ?? 0
    return fields.sorted { $0.key < $1.key }.filter { $0.value != .null }.map { name, value in
      "\(name)\(String(repeating: " ", count: max(0, width - name.count)))  \(text(value))"
    }.joined(separator: "\n")
  }

  static func event(_ event: JSONValue) -> String {
    "\(text(event["time"]))  \(text(event["job"]))  \(text(event["type"]))  \(text(event["data"]))"
  }
}
