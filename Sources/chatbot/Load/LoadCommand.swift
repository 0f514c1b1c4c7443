import ArgumentParser
import Call
import Console
import Load
import Logging
import Media
import NIOCore
import NIOPosix
import OptionValues

/// Fills a room with publishers and viewers.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Fill a room with publishers and viewers, and report the results.",
    discussion: """
      chatbot load --room 100 --publishers 50 --play samples/test.webm --duration 30s
      chatbot load --room 100 --viewers 10 --duration 30s --expect 'viewers.receiving == 10'

      Each publisher and each viewer has its own id, socket and certificate. The publishers call everyone else in the \
      room. They call each other only with --receive. Viewers receive from everyone else, and decode nothing. With \
      --udp-port and --tcp-port they use consecutive ports, beginning with that one. Exits with 0 only if each of them \
      was connected to someone or, with --expect, if all rules hold.
      """)

  @OptionGroup var options: LoadOptions

  func run() async throws {
    let console = try options.log.console()
    let log = console.logger("load", level: options.log.level)
    try await console.carryOut {
      let interruption = Interruption()
      // Find errors that need no network before joining, so that no participant notices them.
      let settings = try options.settings()
      let rules = try options.rules()
      let camera = options.playing.camera(allowing: options.connection.media.videoCodecs)
      let source = options.publishers > 0 ? try camera?.open(log: log) : nil
      // Each participant has one socket for each local address and one to the server.
      FileDescriptorLimit.allowMany()
      let load = try await prepare(settings, source, log)
      interruption.beginOrderly()
      let announcement = console.announce("Connecting to \(settings.server) …") { await load.report.allJoined > 0 }
      var report = await report(of: load, settings, interruption, console)
      announcement.cancel()
      console.clearStatus()
      let allHold = rules.isEmpty || report.judge(by: rules)
      try show(report, on: console)
      if let warning = report.warning { console.say(warning) }
      if let failure = await source?.failure { throw CallFailure(.fileNotPlayable, failure) }
      try judge(report, by: rules)
      if !allHold { throw ExitStatus.ruleFailed.exitCode }
    }
  }

  // MARK: Setting up

  private func prepare(
    _ settings: RoomLoad.Settings, _ source: (any FrameSource)?, _ log: Logger
  ) async throws(CallFailure) -> RoomLoad {
    let loops = Array(
      MultiThreadedEventLoopGroup(numberOfThreads: options.connection.mediaThreads ?? System.coreCount).makeIterator())
    do {
      return try await RoomLoad(settings, source: source, on: loops[0], and: Array(loops.dropFirst()), log: log)
    } catch let failure as CallFailure {
      throw failure
    } catch {
      throw CallFailure(.usage, "\(error)")
    }
  }

  // MARK: Running

  /// Runs the load until it ends or a signal arrives, and shows its state on a terminal.
  private func report(
    of load: RoomLoad, _ settings: RoomLoad.Settings, _ interruption: Interruption, _ console: Console
  ) async -> LoadReport {
    await withDiscardingTaskGroup { group in
      group.addTask {
        await interruption.first()
        if !Task.isCancelled { load.leave(because: "a signal arrived") }
      }
      group.addTask {
        guard await load.allConnected() else { return }
        console.say("\(settings.who) connected.")
      }
      if console.isTerminal {
        group.addTask {
          while (try? await MediaThread.loop.sleep(for: .seconds(1))) != nil {
            console.show(lines: LoadTable(await load.report).lines)
          }
        }
      }
      let report = await load.run()
      group.cancelAll()
      return report
    }
  }

  // MARK: The end

  private func show(_ report: LoadReport, on console: Console) throws {
    if options.json {
      try console.document(try report.json)
    } else {
      let table = LoadTable(report)
      console.result(table.lines.joined(separator: "\n"))
      // Without a single participant, the reason is reported as an error.
      if console.isQuiet, report.allJoined > 0, !table.failedRules.isEmpty {
        console.result(table.failedRules.joined(separator: "\n"), isWanted: true)
      }
    }
  }

  /// Throws if nobody joined, or if not all were connected and no rules decide about that.
  private func judge(_ report: LoadReport, by rules: [LoadRule]) throws(CallFailure) {
    if report.allJoined == 0 {
      throw CallFailure(.serverNotReached, report.failures.first?.reason ?? "Nobody joined the room.")
    }
    if rules.isEmpty, let sentence = report.unconnected { throw CallFailure(.notConnected, sentence) }
  }
}
