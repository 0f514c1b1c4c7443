import Foundation

/// What a page with `echo.js` saw of the test pattern and sent back in one call. Times are in milliseconds since 1970.
struct EchoReport: Sendable {
  /// One frame that the page received.
  struct VideoFrame: Sendable {
    let number: Int
    /// By the painter's clock, which is also this machine's.
    let paintedAt: Double
    let seenAt: Double
    /// Nil if the page did not send it back.
    let sentBackAt: Double?
  }

  let videoFrames: [VideoFrame]
  let unreadable: Int
  /// The `getStats` reports of the received video, of the encoder's source, and of the sent video.
  let received: JSON
  let source: JSON
  let sent: JSON

  init(json: JSON) {
    videoFrames = json["pictures"].list.map { entry in
      VideoFrame(
        number: entry[0].int ?? -1, paintedAt: entry[1].double ?? .nan, seenAt: entry[2].double ?? .nan,
        sentBackAt: entry[3].double)
    }
    unreadable = json["unreadable"].int ?? 0
    let statistics = json["statistics"]
    (received, source, sent) = (statistics["received"], statistics["source"], statistics["sent"])
  }

  /// The numbers of the frames that were sent back.
  var sentBack: Set<Int> { Set(videoFrames.filter { $0.sentBackAt != nil }.map(\.number)) }

  /// The first frame that was sent back.
  var first: Int? { sentBack.min() }

  /// Returns how many of `count` frames from the first one on were not sent back.
  func missing(of count: Int) -> Int {
    guard let first else { return count }
    let sentBack = sentBack
    return (first..<first + count).count { !sentBack.contains($0) }
  }

  /// The median time from painting a frame to passing it to the page's encoder, in seconds.
  var delay: Double {
    let delays = videoFrames.compactMap { videoFrame in videoFrame.sentBackAt.map { $0 - videoFrame.paintedAt } }
      .sorted()
    return delays.isEmpty ? .nan : delays[delays.count / 2] / 1000
  }

  /// The mean encoding time of the page's encoder for each frame, in seconds.
  var encodingTime: Double {
    (sent["totalEncodeTime"].double ?? .nan) / max(1, sent["framesEncoded"].double ?? .nan)
  }

  var description: String {
    String(
      format:
        "%d frames seen, %d unreadable, %d sent back, of %d in the source %d encoded; sent back %.1f ms after painting, "
        + "encoded in %.1f ms", videoFrames.count, unreadable, sentBack.count, source["frames"].int ?? -1,
      sent["framesEncoded"].int ?? -1, delay * 1000,
      encodingTime * 1000)
  }
}

extension Scenario {
  /// Opens a page that has no camera and sends back what it receives.
  ///
  /// - Parameter videoFrames: how it passes on each frame, for example `{ after: 150 }`; nil sends back the tracks unchanged.
  func echo(in browser: some Browser, room: String, server: Server, videoFrames: String? = nil) async throws -> CallPage
  {
    let page = try await page(of: browser, camera: .refused)
    try await page.addStartScript(Pages.script("pattern-reader"))
    if let videoFrames { try await page.addStartScript("window.echoPictures = \(videoFrames);") }
    try await page.addStartScript(Pages.script("echo"))
    let call = CallPage(page: page, browser: browser.name)
    try await call.enter(room: room, at: server.pageAddress)
    try await call.joined()
    return call
  }
}
