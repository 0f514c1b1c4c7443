import ArgumentParser
import Call
import CallCheck
import CommandSettings
import JobProcess
import JobProtocol
import OptionValues
import Recorder

/// Runs one job that a service supervises.
struct JobCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job", abstract: "Run one job, which a service supervises.",
    discussion: """
      chatbot job FOLDER < secrets.json

      Reads FOLDER/spec.json, and from standard input the secrets, one JSON object or nothing. It writes its journal, its log \
      and its files into the folder, and answers requests on the socket FOLDER/control: see docs/job-process.md.
      """)

  @Argument(help: ArgumentHelp("The folder of the job.", valueName: "folder"), completion: .directory)
  var folder: String

  func run() async throws {
    JobProcess.detach()
    let code = await JobProcess(folder: folder, version: ProgramVersion.text).run { job in
      SecretFile.provide(job.secrets.variables)
      do {
        return try await job.specification.kind == .check ? check(job) : call(job)
      } catch let failure as CallFailure {
        throw failure.jobFailure
      } catch let failure as JobFailure {
        throw failure
      } catch {
        throw JobFailure(.crashing, exitCode: Chatbot.exitCode(for: error).rawValue, Chatbot.message(for: error))
      }
    }
    if code != 0 { throw ExitCode(code) }
  }

  private func call(_ job: RunningJob) async throws -> JobResult {
    var settings = try CallOptions.parse(job.arguments).settings()
    settings.call.recording?.paused = job.paused
    var runner = CallRunner(settings: settings, console: job.console, log: job.log)
    runner.supervise(by: job)
    return job.result(of: try await runner.stay())
  }

  private func check(_ job: RunningJob) async throws -> JobResult {
    let options = try CheckOptions.parse(job.arguments)
    let report = try await Check(options: options, console: job.console, log: job.log, job: job).run()
    return switch report.verdict {
    case .held: job.result("All rules hold.")
    case .failed: job.result("A rule does not hold.", exitCode: ExitStatus.ruleFailed.rawValue)
    case .inconclusive: job.result("The check is inconclusive.", exitCode: ExitStatus.inconclusive.rawValue)
    }
  }
}

extension CallRunner {
  /// Makes a job observe the call, and end it.
  mutating func supervise(by job: RunningJob) {
    observer = job.observer(observer)
    interrupted = { job.interrupt() }
    began = { job.began($0) }
  }
}

extension CallFailure {
  /// What the failure means for a job.
  fileprivate var jobFailure: JobFailure {
    let reason: JobEndReason =
      switch code {
      case .serverNotReached: isRefusal ? .serverRefused : .serverUnreachable
      case .fileNotPlayable: .inputEnded
      case .disk: .diskFull
      default: .crashing
      }
    return JobFailure(reason, exitCode: code.rawValue, sentence)
  }
}
