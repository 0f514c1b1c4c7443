import Foundation
import NIOCore
import TestSupport
import Testing

/// The resources of one scenario, which are released in any case, and the folder that keeps its files for inspection.
actor Scenario {
  let name: String
  /// The recordings, logs and screenshots of this attempt; emptied by the next run.
  let folder: URL
  let network: Network
  private var browsers: [any Browser] = []
  private var pages: [any Page] = []
  private var processes: [ChildProcess] = []
  private var relays: [LossyRelay] = []
  private var disks: [SmallDisk] = []

  private init(name: String, folder: URL, network: Network) {
    self.name = name
    self.folder = folder
    self.network = network
  }

  /// Runs a scenario and ends everything that it started.
  ///
  /// - Parameters:
  ///   - name: the name in printed lines and of the folder `end-to-end/<name>` next to the built program.
  ///   - isolated: whether to use an isolated network, as Firefox requires.
  ///   - limit: the time after which the scenario is abandoned.
  static func run(
    _ name: String, isolated: Bool = false, limit: Duration = .seconds(90),
    _ body: @escaping @Sendable (Scenario) async throws -> Void
  ) async throws {
    let attempt = RealTimeScenarios.attempt
    let folder = BuiltProgram.folder.appendingPathComponent("end-to-end")
      .appendingPathComponent(name.replacing(/[^A-Za-z0-9]+/, with: "-") + (attempt > 1 ? "-attempt-\(attempt)" : ""))
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let network =
      isolated ? try await SharedBrowsers.shared.isolatedNetwork() : await Network.host()
    let scenario = Scenario(name: name, folder: folder, network: network)
    let begun = ContinuousClock.now
    do {
      try await within(limit, "end of \"\(name)\"") { try await body(scenario) }
    } catch {
      await scenario.explain(error)
      await scenario.end()
      if await !scenario.pages.isEmpty { await SharedBrowsers.shared.discard() }
      throw error
    }
    await scenario.end()
    await scenario.note("took \((ContinuousClock.now - begun).formatted(.units(allowed: [.seconds], width: .narrow)))")
  }

  /// The longest stall of the machine so far, in milliseconds: a measured time may be longer by that much without a
  /// fault of the program.
  var stall: Double {
    get async { await StallMeter.longestStall() * 1000 }
  }

  /// Prints a measured value with the scenario's name.
  func note(_ figure: String) {
    print("   \(name): \(figure)")
  }

  // MARK: Browsers

  /// Returns the Chromium that scenarios share, or a new one with this camera and microphone.
  func chromium(camera: FakeCamera? = nil) async throws -> Chromium {
    guard let camera else { return try await SharedBrowsers.shared.chromium(isIsolated: network.isIsolated) }
    let browser = try await Chromium.launch(in: network, camera: camera, hasWindows: true, folder: folder)
    browsers.append(browser)
    return browser
  }

  func firefox(hidesAddresses: Bool = true) async throws -> Firefox {
    try await SharedBrowsers.shared.firefox(hidesAddresses: hidesAddresses)
  }

  /// Opens a new page with `observer.js`.
  func page(of browser: some Browser, camera: Camera = .own) async throws -> any Page {
    let page = try await browser.newPage()
    pages.append(page)
    if !camera.isRefused { try await page.allowDevices() }
    try await page.addStartScript(Pages.script("observer"))
    if let script = try camera.script { try await page.addStartScript(script) }
    return page
  }

  /// Starts a call of the call page in a new window.
  func call(
    in browser: some Browser, room: String, server: Server, camera: Camera = .own
  ) async throws -> CallPage {
    let page = try await page(of: browser, camera: camera)
    let call = CallPage(page: page, browser: browser.name)
    try await call.enter(room: room, at: server.pageAddress)
    return call
  }

  // MARK: Programs

  /// Starts `chatbot` with these arguments.
  func bot(_ name: String, on disk: SmallDisk? = nil, _ arguments: [String]) throws -> Bot {
    let log = folder.appendingPathComponent("\(name).log")
    let prefix = network.prefix + (disk?.prefix ?? [])
    let process = try ChildProcess(
      name, prefix + [try BuiltProgram.path()] + arguments, log: log, folder: folder)
    processes.append(process)
    return Bot(process: process)
  }

  /// Starts any program.
  func program(
    _ name: String, _ command: [String], environment: [String: String] = [:], folder directory: URL? = nil
  ) throws -> ChildProcess {
    let process = try ChildProcess(
      name, network.prefix + command, log: folder.appendingPathComponent("\(name).log"), environment: environment,
      folder: directory)
    processes.append(process)
    return process
  }

  /// Starts a bot in a room and waits until it has joined.
  ///
  /// - Parameters:
  ///   - relay: a relay between the bot and all others.
  ///   - disk: a disk that the bot sees.
  func bot(
    in room: String, of server: Server, via relay: LossyRelay? = nil, on disk: SmallDisk? = nil,
    _ arguments: [String], name: String = "bot"
  ) async throws -> Bot {
    let port = await relay?.port ?? server.port
    let address = await relay?.address ?? server.address
    let before = network.connections(to: port)
    let bot = try bot(name, on: disk, ["--server", address, "--room", room] + arguments)
    try await eventually("connection of \(name) with the server", within: .seconds(10), every: .milliseconds(20)) {
      guard bot.isRunning else { throw NotStarted(name: name, output: bot.output) }
      return network.connections(to: port).isSubset(of: before) ? nil : true
    }
    try await joined(bot)
    return bot
  }

  /// Starts `chatbot serve` and waits until it accepts connections.
  func server(port wanted: Int? = nil, _ arguments: [String] = []) async throws -> Server {
    let port: Int
    if let wanted { port = wanted } else { port = try await network.freePort() }
    let bot = try bot("server", ["serve", "--host", "127.0.0.1", "--port", "\(port)"] + arguments)
    try await eventually("server at port \(port)", within: .seconds(10), every: .milliseconds(20)) {
      guard bot.isRunning else { throw NotStarted(name: "chatbot serve", output: bot.output) }
      return await network.accepts(port: port) ? true : nil
    }
    return Server(bot: bot, port: port)
  }

  /// Starts a relay for one bot, which has no loss until a test impairs it.
  func relay(to server: Server, seed: UInt64) async throws -> LossyRelay {
    let relay = try await LossyRelay.open(to: server, in: network, seed: seed)
    relays.append(relay)
    return relay
  }

  /// Mounts a disk of a few megabytes for one bot.
  func smallDisk(megabytes: Int) async throws -> SmallDisk {
    let disk = try await SmallDisk.mount(
      megabytes: megabytes, at: folder.appendingPathComponent("disk"), log: folder.appendingPathComponent("disk.log"))
    disks.append(disk)
    return disk
  }

  /// Returns a folder for recordings in the scenario's folder.
  func recordings(_ name: String = "recordings") -> RecordingFolder {
    RecordingFolder(url: folder.appendingPathComponent(name))
  }

  // MARK: Cleanup

  private func end() async {
    for page in pages { await page.close() }
    for browser in browsers { await browser.quit() }
    for process in processes { await process.end() }
    for relay in relays { await relay.close() }
    for disk in disks { await disk.close() }
    if !network.isIsolated { await network.close() }
  }

  /// Prints and saves what helps to explain a failure.
  private func explain(_ error: any Error) async {
    print("   \(name): \(error)")
    for (index, page) in pages.enumerated() {
      if let videoFrame = try? await page.screenshot() {
        try? videoFrame.write(to: folder.appendingPathComponent("page-\(index).png"))
      }
      let asked =
        "({ calls: await observer.report(), descriptions: observer.descriptions(), page: observer.progress() })"
      if let report = try? await page.evaluate("(async () => \(asked))()", within: .seconds(5)).text {
        try? report.write(to: folder.appendingPathComponent("page-\(index).json"), atomically: true, encoding: .utf8)
      }
      for complaint in await page.errors { print("   page \(index) says: \(complaint)") }
    }
    for process in processes.suffix(12) {
      let lines = process.output.split(separator: "\n").suffix(25)
      print("   \(process.name) printed last:\n" + lines.map { "      \($0)" }.joined(separator: "\n"))
    }
    print("   Its files are in \(folder.path)")
  }
}
