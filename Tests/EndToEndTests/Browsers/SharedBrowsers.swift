import Foundation

/// The browsers that one scenario after another uses: to start one takes seconds, and what a scenario opened in it is closed
/// when the scenario ends. After a failure the next scenario gets a new one.
///
/// At most one of each kind runs. They end with the test process, by `ProcessSupervisor`.
actor SharedBrowsers {
  static let shared = SharedBrowsers()

  private var network: Network?
  private var chromium: Chromium?
  private var isolatedChromium: Chromium?
  private var firefox: (browser: Firefox, hidesAddresses: Bool)?

  /// The network namespace of all scenarios that need one.
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

  /// Ends all browsers: something went wrong, perhaps with one of them.
  func discard() async {
    for browser in [chromium, isolatedChromium].compactMap(\.self) { await browser.quit() }
    await firefox?.browser.quit()
    (chromium, isolatedChromium, firefox) = (nil, nil, nil)
  }

  /// A folder of this test process for a browser's log and profile.
  private static func folder(_ name: String) throws -> URL {
    let folder = allFolders.appendingPathComponent("\(getpid())/\(name)")
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// One for each test process; those of processes that have ended are removed.
  private static let allFolders: URL = {
    let all = BuiltProgram.folder.appendingPathComponent("end-to-end/browsers")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: all.path)) ?? [] {
      guard let process = Int32(name), kill(process, 0) != 0 else { continue }
      try? FileManager.default.removeItem(at: all.appendingPathComponent(name))
    }
    return all
  }()
}
