import ArgumentParser
import CommandSettings
import FoundationEssentials
import Glibc
import Logging
import Media
import ObjectStore
import OptionValues
import S3
import Service

struct UploadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Put the recordings of a folder into an object store, while they are made and after.",
    discussion: """
      The files of a folder that chatbot --record writes are stored as they are closed, and recording.json last. It goes on after \
      it was ended, and leaves the folder as it is. chatbot --record FOLDER --store URL runs it beside the recorder.

      Credentials for S3 are those of the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), a shared file with profiles, a web \
      identity token or a container.

      Exit codes: 0 everything is stored; 64 wrong options; 66 the folder cannot be read; 74 a file was not stored; 75 the store could not \
      be used for the time of --patience: run it again; 77 the store refuses it.
      """)

  @Argument(
    help: ArgumentHelp("The folder that a recorder writes or wrote.", valueName: "folder"), completion: .directory)
  var folder: String

  @Option(help: ArgumentHelp("The store: s3://BUCKET/PREFIX, or file:///FOLDER.", valueName: "url"))
  var store: String

  @Option(
    help: ArgumentHelp(
      "The server of S3. (default: the variable AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else Amazon's)",
      valueName: "url"))
  var endpoint: String?

  @Option(
    help: ArgumentHelp("The region. (default: the variable AWS_REGION or AWS_DEFAULT_REGION, else us-east-1)"))
  var region: String?

  @Flag(help: "Name the bucket in the path, not in the host.")
  var pathStyle = false

  @Option(help: ArgumentHelp("How the store encrypts: AES256, aws:kms or aws:kms:KEY.", valueName: "kind"))
  var serverSideEncryption: String?

  @Option(help: ArgumentHelp("At most so many bytes a second, such as 5MB.", valueName: "size"))
  var uploadRate: String?

  @Option(help: ArgumentHelp("A file of credentials with profiles.", valueName: "file"), completion: .file())
  var credentialsFile: String?

  @Option(help: ArgumentHelp("The profile in it.", valueName: "name"))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "The beginning of the keys, with {job}, {date} and {kind}. (default: {date}/{job})", valueName: "template"))
  var path: String?

  @Option(
    help: ArgumentHelp(
      "How long a store that cannot be used is tried after the end of the recording.", valueName: "time"),
    transform: TimeSpan.parse)
  var patience = TimeSpan(milliseconds: 3_600_000)

  @Flag(
    help:
      "The folder is being recorded until a line of standard input, or its end; without this, as long as a recorder has locked it."
  )
  var untilEndOfInput = false

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  func run() async throws {
    let isQuiet = quiet
    // The recorder that reads the output may end first.
    signal(SIGPIPE, SIG_IGN)
    LoggingSystem.bootstrap { label in
      ServiceLogHandler(label: label, level: isQuiet ? .error : .notice, format: .text)
    }
    do {
      let upload = FolderUpload(try settings(), logger: Logger(label: "upload"))
      if untilEndOfInput {
        let thread = DedicatedThread.start("input") {
          var buffer = [UInt8](repeating: 0, count: 256)
          while true {
            if read(STDIN_FILENO, &buffer, buffer.count) >= 0 || errno != EINTR { break }
          }
          upload.ended()
        }
        if !thread { upload.ended() }
      }
      let reports = untilEndOfInput
      let result = try await upload.run(environment: ProcessInfo.processInfo.environment) { problem in
        if let problem { ServiceExit.report(problem) }
        if reports { Self.line("ready") }
      }
      if !quiet {
        let isEmpty = result.document.isEmpty
        Self.line(
          isEmpty
            ? "There was nothing to store." : "Stored \(result.files) files, \(result.bytes) bytes: \(result.document)")
      }
    } catch let failure as FolderUpload.Failure {
      ServiceExit.report(failure.description.printable(utf8Bytes: 2_000))
      throw Self.code(failure.kind)
    } catch let error as ValidationError {
      throw error
    } catch {
      ServiceExit.report("\(error)".printable(utf8Bytes: 2_000))
      throw ServiceExit.incomplete
    }
  }

  private static func code(_ kind: FolderUpload.Failure.Kind) -> ExitCode {
    switch kind {
    case .usage: ServiceExit.usage
    case .unreadable: ServiceExit.noInput
    case .refused: ServiceExit.noPermission
    case .unreachable: ServiceExit.tryAgain
    case .incomplete: ServiceExit.incomplete
    }
  }

  /// Writes a line at once, also into a pipe.
  private static func line(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  private func settings() throws -> FolderUpload.Settings {
    guard S3Configuration.isURL(store) || FileObjectStore.path(ofURL: store) != nil else {
      throw FolderUpload.Failure(
        .usage, "The store \(store.printable(utf8Bytes: 300)) is no URL like s3://bucket/prefix or file:///folder.")
    }
    var trimmed = folder
    while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed.removeLast() }
    var settings = FolderUpload.Settings(folder: trimmed, url: store, version: ProgramVersion.text)
    settings.s3 = try options()
    if S3Configuration.isURL(store) {
      do throws(S3Configuration.Problem) {
        _ = try settings.s3.configuration(url: store)
      } catch {
        throw FolderUpload.Failure(.usage, error.description)
      }
    }
    if let path {
      do throws(ObjectPathTemplate.Problem) {
        settings.template = try ObjectPathTemplate(path)
      } catch {
        throw FolderUpload.Failure(.usage, error.description)
      }
    }
    settings.waitsForEnd = untilEndOfInput
    settings.patience = .milliseconds(patience.milliseconds)
    settings.program = JobProgram.find().map { [$0] }
    return settings
  }

  private func options() throws(FolderUpload.Failure) -> ServiceConfiguration.S3Options {
    var options = ServiceConfiguration.S3Options()
    if let endpoint {
      guard let found = S3Endpoint(endpoint) else {
        throw FolderUpload.Failure(.usage, "--endpoint must be the URL of a server, like https://s3.example.")
      }
      options.endpoint = found
    }
    if let region {
      guard S3Configuration.isRegion(region) else {
        throw FolderUpload.Failure(.usage, "--region has letters, digits and hyphens, like eu-central-1.")
      }
      options.region = region
    }
    if pathStyle { options.pathStyle = true }
    if let serverSideEncryption {
      guard let found = S3Configuration.ServerSideEncryption(serverSideEncryption) else {
        throw FolderUpload.Failure(.usage, "--server-side-encryption is AES256, aws:kms or aws:kms:KEY.")
      }
      options.serverSideEncryption = found
    }
    if let uploadRate {
      guard let rate = try? ByteSize.parseFileSize(uploadRate).bytes, rate >= S3Configuration.minimumUploadRate else {
        throw FolderUpload.Failure(
          .usage, "--upload-rate is a size like 5MB, at least \(S3Configuration.minimumUploadRate) bytes.")
      }
      options.uploadRate = rate
    }
    options.credentialsFile = credentialsFile
    options.profile = profile
    return options
  }
}

extension TimeSpan {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> TimeSpan { try TimeSpan(text) }
}
