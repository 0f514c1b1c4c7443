import Foundation

/// The server's call page in a room, observed by `observer.js`.
struct CallPage: Sendable {
  let page: any Page
  /// The browser's display name.
  let browser: String

  func enter(room: String, at address: String) async throws {
    try await page.open("\(address)#\(room)")
  }

  /// Returns the ids that the server assigned to this page, in order: one for each join.
  func ids() async throws -> [String] {
    try await page.evaluate("observer.rooms()").list.compactMap { $0["you"].string }
  }

  /// Waits until the page has joined the room `times` times, and returns its last id.
  @discardableResult
  func joined(times: Int = 1, within limit: Duration = .seconds(15)) async throws -> String {
    try await eventually("room in \(browser)", within: limit) {
      let ids = try await ids()
      return ids.count >= times ? ids.last : nil
    }
  }

  /// Returns the reports of the page's calls, oldest first.
  func reports() async throws -> [CallReport] {
    try await page.evaluate("observer.report()").list.map { CallReport(json: $0) }
  }

  /// Waits until `count` calls are connected, and returns their reports.
  @discardableResult
  func connected(_ count: Int = 1, within limit: Duration = .seconds(15)) async throws -> [CallReport] {
    try await eventually("\(count) connected call(s) in \(browser)", within: limit) {
      let reports = try await reports().filter { $0.state == "connected" }
      return reports.count >= count ? reports : nil
    }
  }

  /// Returns what the page says of each connected call: `direct` or `relayed`.
  func paths() async throws -> [String] {
    try await page.evaluate("[...document.querySelectorAll('#tiles .path')].map((path) => path.textContent)").list
      .compactMap(\.string).filter { !$0.isEmpty }
  }

  /// Waits until a call shows a video frame, and returns its report.
  func firstVideoFrame(within limit: Duration = .seconds(15)) async throws -> CallReport {
    try await eventually("frame in \(browser)", within: limit) {
      try await reports().first { $0.firstVideoFrameAt != nil }
    }
  }

  /// Stops sending while the call continues; returns the time of it in milliseconds since 1970.
  func stopSending() async throws -> Double {
    // Without a track, Firefox still sends a frame each second, and with audio merely inactive it still sends silence.
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

  /// Returns how much later the browser plays audio than video of the same moment, in milliseconds, a measurement each 100 ms, by the
  /// browser's own times of what it plays. They do not depend on when a script of the page runs.
  func playoutOffsets(seconds: Int) async throws -> [Double] {
    let script = """
      (async () => {
        const offsets = [];
        const end = performance.now() + \(1000 * seconds);
        while (performance.now() < end) {
          await new Promise((done) => setTimeout(done, 100));
          for (const connection of call.peers.values()) {
            const played = { audio: 0, video: 0 };
            for (const { type, kind, estimatedPlayoutTimestamp } of (await connection.getStats()).values()) {
              if (type === 'inbound-rtp') played[kind] = estimatedPlayoutTimestamp;
            }
            if (played.audio && played.video) offsets.push(played.video - played.audio);
          }
        }
        return offsets;
      })()
      """
    let offsets = try await page.evaluate(script, within: .seconds(2 * seconds + 20)).list.compactMap(\.double)
    guard !offsets.isEmpty else { throw NoPlayout() }
    return offsets
  }

  struct NoPlayout: Error, CustomStringConvertible {
    var description: String { "The browser does not say when it plays both audio and video." }
  }

  /// Encodes the sent video in these layers, for example `L3T3_KEY`; returns the browser's error, empty without one.
  func setScalability(_ mode: String) async throws -> String? {
    try await page.evaluate(
      """
      Promise.all([...call.peers.values()].flatMap((connection) => connection.getSenders())
        .filter((sender) => sender.track?.kind === 'video').map((sender) => {
          const parameters = sender.getParameters();
          parameters.encodings[0].scalabilityMode = '\(mode)';
          // A busy machine must not take the highest layer away.
          parameters.degradationPreference = 'maintain-resolution';
          return sender.setParameters(parameters);
        })).then(() => '', (error) => String(error))
      """
    ).string
  }

  /// Returns the MIME type of the video that is received, and what the browser calls its decoder.
  func videoDecoder() async throws -> (type: String, decoder: String) {
    let video = try await page.evaluate(
      """
      Promise.all([...call.peers.values()].map((connection) => connection.getStats())).then(([reports]) => {
        const video = [...reports.values()].find((entry) => entry.type === 'inbound-rtp' && entry.kind === 'video');
        return [reports.get(video?.codecId)?.mimeType ?? '', video?.decoderImplementation ?? ''];
      })
      """)
    return (video[0].string ?? "", video[1].string ?? "")
  }

  /// Takes a last report and leaves the room through the page's own function.
  func leave() async throws -> [CallReport] {
    try await page.evaluate("observer.leave()").list.map { CallReport(json: $0) }
  }

  /// Takes a last report and closes the window without leaving the room.
  func vanish() async throws -> [CallReport] {
    let last = try await reports()
    // The last frames that it counts are still on their way.
    try await sleepOnEventLoop(for: .milliseconds(200))
    await page.close()
    return last
  }
}
