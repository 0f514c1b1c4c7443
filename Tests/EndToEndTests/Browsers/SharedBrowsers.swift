import Foundation

/// The browsers that the scenarios share, because starting one takes seconds. What a scenario opens is closed when it
/// ends. After a failure the next scenario gets a new browser.
///
/// At most one of each kind runs. `ProcessSupervisor` ends them with the test process.
actor SharedBrowsers {
  static let shared = SharedBrowsers()

  private var network: Network?
  private var chromium: Chromium?
  private var isolatedChromium: Chromium?
  private var firefox: (browser: Firefox, hidesAddresses: Bool)?

  /// Returns the network namespace of all scenarios that need one.
  func isolatedNetwork() async throws -> Network {
    if let network { return network }
    let made = try await Network.isolated(log: Self.folder("network").appendingPathComponent("network.log"))
    network = made
    return made
  }

  func chromium(isIsolated: Bool) async throws -> Chromium {
    if let running = isIsolated ? isolatedChromium : chromium {
      if running.isRunning { return running }
      await running.quit()
    }
    let network = isIsolated ? try await isolatedNetwork() : await Network.host()
    let folder = try Self.folder(isIsolated ? "chromium-isolated" : "chromium")
    let launched = try await Chromium.launch(in: network, folder: folder)
    if isIsolated { isolatedChromium = launched } else { chromium = launched }
    return launched
  }

  func firefox(hidesAddresses: Bool) async throws -> Firefox {
    if let firefox {
      if firefox.hidesAddresses == hidesAddresses, firefox.browser.isRunning { return firefox.browser }
      await firefox.browser.quit()
    }
    firefox = nil
    let launched = try await Firefox.launch(
      in: isolatedNetwork(), hidesAddresses: hidesAddresses, folder: Self.folder("firefox"))
    firefox = (launched, hidesAddresses)
    return launched
  }

  /// Ends all browsers, after a failure that one of them may have caused.
  func discard() async {
    for browser in [chromium, isolatedChromium].compactMap(\.self) { await browser.quit() }
    await firefox?.browser.quit()
    (chromium, isolatedChromium, firefox) = (nil, nil, nil)
  }

  /// Creates a folder of this test process for a browser's log and profile.
  private static func folder(_ name: String) throws -> URL {
    let folder = allFolders.appendingPathComponent("\(getpid())/\(name)")
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Contains one folder for each test process; folders of processes that have ended are removed.
  private static let allFolders: URL = {
    let all = BuiltProgram.folder.appendingPathComponent("end-to-end/browsers")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: all.path)) ?? [] {
      guard let process = Int32(name), kill(process, 0) != 0 else { continue }
      try? FileManager.default.removeItem(at: all.appendingPathComponent(name))
    }
    return all
  }()
}
