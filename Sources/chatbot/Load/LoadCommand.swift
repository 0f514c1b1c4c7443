import ArgumentParser
import Load
import Logging
import Media
import NIOCore
import NIOPosix
import OptionValues

/// Fills a room with publishers.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Fill a room with publishers that send a file or the pattern, and report the results.",
    discussion: """
      chatbot load --room 100 --publishers 50 --play samples/test.webm --duration 30s

      Each publisher has its own id, socket and certificate. The publishers call everyone else in the room. They call \
      each other only with --receive. With --udp-port and --tcp-port they use consecutive ports, beginning with that \
      one. Exits with 0 only if each of them was connected to someone.
      """)

  @OptionGroup var options: LoadOptions

  func run() async throws {
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("load", level: options.log.level)
    try await console.carryOut {
      let interruption = Interruption()
      // Find errors that need no network before joining, so that no participant notices them.
      let settings = try options.settings()
      guard let source = try options.playing.camera?.open(log: log) else {
        throw CallFailure(.usage, "There is nothing to play.")
      }
      // Each publisher has one socket for each local address and one to the server.
      FileDescriptorLimit.allowMany()
      let load = try await prepare(settings, source, log)
      interruption.beginOrderly()
      let report = await report(of: load, interruption, console)
      console.clearStatus()
      try show(report, on: console)
      if let failure = await source.failure { throw CallFailure(.fileNotPlayable, failure) }
      try judge(report)
    }
  }

  // MARK: Setting up

  private func prepare(
    _ settings: RoomLoad.Settings, _ source: any FrameSource, _ log: Logger
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
  private func report(of load: RoomLoad, _ interruption: Interruption, _ console: Console) async -> LoadReport {
    await withDiscardingTaskGroup { group in
      group.addTask {
        await interruption.first()
        if !Task.isCancelled { load.leave(because: "a signal arrived") }
      }
      group.addTask {
        guard await load.allConnected() else { return }
        let who = options.publishers == 1 ? "The publisher is" : "All \(options.publishers) publishers are"
        console.say("\(who) connected.")
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
      console.result(try report.json, isWanted: true)
    } else {
      console.result(LoadTable(report).lines.joined(separator: "\n"))
    }
  }

  /// Throws if not all publishers were connected.
  private func judge(_ report: LoadReport) throws(CallFailure) {
    if report.joined == 0 {
      throw CallFailure(.serverNotReached, report.failures.first?.reason ?? "No publisher joined the room.")
    }
    if report.isComplete { return }
    let missing = report.started - report.connected
    throw CallFailure(
      .notConnected,
      "Publishers that were never connected: \(missing) of \(report.started)."
        + (report.failures.isEmpty ? " Nobody else was in the room, or the load ended too early." : ""))
  }
}
