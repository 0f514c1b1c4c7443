import Foundation

/// The server's own page, in a room, as `observer.js` sees it.
struct CallPage: Sendable {
  let page: any Page
  /// The browser's name for people.
  let browser: String

  func enter(room: String, at address: String) async throws {
    try await page.open("\(address)#\(room)")
  }

  /// The ids the server has given to this page, oldest first: one for each time it joined.
  func ids() async throws -> [String] {
    try await page.evaluate("observer.rooms()").list.compactMap { $0["you"].string }
  }

  /// Waits until the page is in the room for the given time, and returns its id there.
  @discardableResult
  func joined(times: Int = 1, within limit: Duration = .seconds(15)) async throws -> String {
    try await eventually("room in \(browser)", within: limit) {
      let ids = try await ids()
      return ids.count >= times ? ids.last : nil
    }
  }

  /// What the page's calls have come to, oldest first.
  func reports() async throws -> [CallReport] {
    try await page.evaluate("observer.report()").list.map { CallReport(json: $0) }
  }

  /// Waits until so many calls are connected, and returns what they have come to.
  @discardableResult
  func connected(_ count: Int = 1, within limit: Duration = .seconds(15)) async throws -> [CallReport] {
    try await eventually("\(count) connected call(s) in \(browser)", within: limit) {
      let reports = try await reports().filter { $0.state == "connected" }
      return reports.count >= count ? reports : nil
    }
  }

  /// Waits until a call shows a frame, and returns it.
  func firstVideoFrame(within limit: Duration = .seconds(15)) async throws -> CallReport {
    try await eventually("frame in \(browser)", within: limit) {
      try await reports().first { $0.firstVideoFrameAt != nil }
    }
  }

  /// Sends nothing more, though the call continues; returns when that was, milliseconds since 1970.
  func stopSending() async throws -> Double {
    // Firefox continues with a frame a second when it is merely left without a track, and with silence when audio is
    // merely inactive.
    let stopped = try await page.evaluate(
      """
      Promise.all([...call.peers.values()].flatMap((connection) => connection.getSenders()).map((sender) => {
        if (sender.track?.kind === 'audio') return sender.replaceTrack(null);
        const parameters = sender.getParameters();
        for (const encoding of parameters.encodings) encoding.active = false;
        return sender.setParameters(parameters);
      })).then(observer.now)
      """)
    return stopped.double ?? .nan
  }

  /// Takes the last figures and leaves the room by the page's own means.
  func leave() async throws -> [CallReport] {
    try await page.evaluate("observer.leave()").list.map { CallReport(json: $0) }
  }

  /// Closes the window without a farewell; the figures are of the moment before.
  func vanish() async throws -> [CallReport] {
    let last = try await reports()
    await page.close()
    return last
  }
}
