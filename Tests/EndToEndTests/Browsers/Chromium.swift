import Foundation

/// Headless Chromium, controlled by the DevTools protocol.
struct Chromium: Browser {
  let name = "Chromium"
  private let process: ChildProcess
  private let commands: CommandChannel
  private let complaints: Complaints
  private let profile: URL

  /// Starts Chromium with a new profile.
  ///
  /// - Parameters:
  ///   - camera: the files of its fake camera and microphone; nil for Chromium's own.
  ///   - folder: the folder for the profile and the log.
  ///   - hasWindows: whether to run the whole program with its invisible windows, or only the headless shell. The
  ///     windows cost up to half a core.
  static func launch(
    in network: Network, camera: FakeCamera? = nil, hasWindows: Bool = false, folder: URL
  ) async throws -> Chromium {
    let profile = folder.appendingPathComponent("chromium-profile-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
    let process = try ChildProcess(
      "Chromium",
      network.prefix + Machine.atNormalPriority + [hasWindows ? "chromium" : "chromium-headless-shell"]
        + flags(camera: camera, profile: profile)
        + ["about:blank"],
      log: folder.appendingPathComponent("chromium.log"), environment: ["HOME": profile.path])
    do {
      let portFile = profile.appendingPathComponent("DevToolsActivePort")
      let address = try await eventually("DevTools port of Chromium", within: .seconds(30)) {
        guard process.isRunning else { throw NotStarted(name: "Chromium", output: process.output) }
        let lines = (try? String(contentsOf: portFile, encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.count == 2 ? "ws://127.0.0.1:\(lines[0])\(lines[1])" : nil
      }
      let complaints = Complaints()
      let commands = try await CommandChannel.connect(to: address, on: network.loops) { event in
        if let text = Self.complaint(in: event) { await complaints.add(text, of: event["sessionId"].string ?? "") }
      }
      return Chromium(process: process, commands: commands, complaints: complaints, profile: profile)
    } catch {
      await process.end()
      throw error
    }
  }

  var isRunning: Bool { process.isRunning }

  func newPage() async throws -> any Page {
    // A browser context of its own, so that permissions apply to one page only.
    let context = try await commands.call("Target.createBrowserContext")["browserContextId"]
    let target = try await commands.call(
      "Target.createTarget", ["url": "about:blank", "newWindow": true, "browserContextId": context])["targetId"]
    let attached = try await commands.call("Target.attachToTarget", ["targetId": target, "flatten": true])
    let page = ChromiumPage(
      commands: commands, complaints: complaints, context: context, session: attached["sessionId"].string ?? "")
    for domain in ["Page", "Runtime", "Log"] { try await page.call("\(domain).enable") }
    return page
  }

  func quit() async {
    await commands.close()
    await process.end()
    try? FileManager.default.removeItem(at: profile)
  }

  private static func flags(camera: FakeCamera?, profile: URL) -> [String] {
    var flags = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--disable-extensions", "--disable-breakpad", "--password-store=basic",
      // A page without focus must run at full speed.
      "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
      "--disable-renderer-backgrounding", "--autoplay-policy=no-user-gesture-required",
      "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--allow-loopback-in-peer-connection",
      "--user-data-dir=\(profile.path)", "--remote-debugging-port=0",
    ]
    if let camera {
      flags.append("--use-file-for-fake-video-capture=\(camera.videoFrame.path)")
      flags.append("--use-file-for-fake-audio-capture=\(camera.audio.path)")
    }
    return flags
  }

  private static func complaint(in event: JSON) -> String? {
    let parameters = event["params"]
    switch event["method"].string {
    case "Runtime.exceptionThrown":
      let details = parameters["exceptionDetails"]
      return details["exception"]["description"].string ?? details["text"].string
    case "Runtime.consoleAPICalled" where parameters["type"] == "error":
      return parameters["args"].list.map { $0["value"].string ?? $0["description"].string ?? "" }
        .joined(separator: " ")
    case "Log.entryAdded" where parameters["entry"]["level"] == "error":
      return parameters["entry"]["text"].string
    default:
      return nil
    }
  }
}

/// A browser that ended before the tests could connect to it.
struct NotStarted: Error, CustomStringConvertible {
  let name: String
  let output: String

  var description: String { "\(name) did not start. It printed:\n\(output.suffix(2000))" }
}
