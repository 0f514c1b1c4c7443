import Foundation

/// Headless Firefox, controlled by WebDriver BiDi.
///
/// It cannot connect to itself over a machine's own loopback, so it needs an isolated `Network`.
struct Firefox: Browser {
  let name = "Firefox"
  private let process: ChildProcess
  private let commands: CommandChannel
  private let complaints: Complaints
  private let profile: URL

  /// Starts Firefox with a new profile and its own fake camera and microphone.
  ///
  /// - Parameters:
  ///   - hidesAddresses: whether it offers `.local` names instead of its addresses, as for sites without a permanent
  ///     permission.
  ///   - folder: the folder for the profile and the log.
  static func launch(in network: Network, hidesAddresses: Bool, folder: URL) async throws -> Firefox {
    let profile = folder.appendingPathComponent("firefox-profile-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
    let hiding = (key: "media.peerconnection.ice.obfuscate_host_addresses", value: "\(hidesAddresses)")
    try (Array(preferences) + [hiding]).map { "user_pref(\"\($0)\", \($1));\n" }.joined()
      .write(to: profile.appendingPathComponent("user.js"), atomically: true, encoding: .utf8)
    let process = try ChildProcess(
      "Firefox",
      network.prefix + Machine.atNormalPriority + [
        "firefox-esr", "--headless", "--no-remote", "--profile", profile.path, "--remote-debugging-port", "0",
        "about:blank",
      ],
      log: folder.appendingPathComponent("firefox.log"),
      environment: ["HOME": profile.path, "MOZ_CRASHREPORTER_DISABLE": "1", "XDG_RUNTIME_DIR": profile.path])
    do {
      let portFile = profile.appendingPathComponent("WebDriverBiDiServer.json")
      let port = try await eventually("BiDi port of Firefox", within: .seconds(40)) {
        guard process.isRunning else { throw NotStarted(name: "Firefox", output: process.output) }
        return (try? JSON(parsing: String(contentsOf: portFile, encoding: .utf8)))?["ws_port"].int
      }
      let complaints = Complaints()
      let commands = try await CommandChannel.connect(
        to: "ws://127.0.0.1:\(port)/session", on: network.loops
      ) { event in
        let entry = event["params"]
        guard event["method"] == "log.entryAdded", entry["level"] == "error" else { return }
        await complaints.add(entry["text"].string ?? "", of: entry["source"]["context"].string ?? "")
      }
      _ = try await commands.call(
        "session.new", ["capabilities": ["alwaysMatch": ["acceptInsecureCerts": true]]])
      _ = try await commands.call("session.subscribe", ["events": ["log.entryAdded"]])
      return Firefox(process: process, commands: commands, complaints: complaints, profile: profile)
    } catch {
      await process.end()
      throw error
    }
  }

  var isRunning: Bool { process.isRunning }

  func newPage() async throws -> any Page {
    let created = try await commands.call("browsingContext.create", ["type": "window"])
    return FirefoxPage(commands: commands, complaints: complaints, context: created["context"].string ?? "")
  }

  func quit() async {
    await commands.close()
    await process.end()
    try? FileManager.default.removeItem(at: profile)
  }

  private static let preferences: KeyValuePairs = [
    // Every page gets a camera and a microphone.
    "media.navigator.streams.fake": "true",
    "media.navigator.permission.disabled": "true",
    // Calls over loopback.
    "media.peerconnection.ice.loopback": "true",
    // Pages may play what they receive.
    "media.autoplay.default": "0",
    "media.autoplay.blocking_policy": "0",
    // Background pages are not throttled.
    "dom.min_background_timeout_value": "4",
    "dom.timeout.enable_budget_timer_throttling": "false",
    // Nothing is downloaded.
    "app.normandy.enabled": "false",
    "app.update.auto": "false",
    "browser.safebrowsing.malware.enabled": "false",
    "browser.safebrowsing.phishing.enabled": "false",
    "browser.safebrowsing.provider.mozilla.updateURL": "\"\"",
    "browser.search.update": "false",
    "browser.shell.checkDefaultBrowser": "false",
    "browser.startup.page": "0",
    "browser.aboutwelcome.enabled": "false",
    "datareporting.policy.dataSubmissionEnabled": "false",
    "dom.push.connection.enabled": "false",
    "extensions.update.enabled": "false",
    "media.gmp-manager.updateEnabled": "false",
    "network.captive-portal-service.enabled": "false",
    "network.connectivity-service.enabled": "false",
    "services.settings.server": "\"data:,\"",
    "toolkit.telemetry.enabled": "false",
    "toolkit.telemetry.server": "\"\"",
  ]
}
