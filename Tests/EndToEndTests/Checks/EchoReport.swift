import Foundation

/// What a page with `echo.js` saw of the test pattern and sent back in one call. Times are milliseconds since 1970.
struct EchoReport: Sendable {
  /// One frame that the page got.
  struct VideoFrame: Sendable {
    let number: Int
    /// By the clock of who painted it, which is this machine's too.
    let paintedAt: Double
    let seenAt: Double
    /// Nil if the page kept it to itself.
    let sentBackAt: Double?
  }

  let videoFrames: [VideoFrame]
  let unreadable: Int
  /// `getStats` of the frames that were received, were given to the encoder, and were sent.
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

  /// The numbers that went back.
  var sentBack: Set<Int> { Set(videoFrames.filter { $0.sentBackAt != nil }.map(\.number)) }

  /// The first that went back.
  var first: Int? { sentBack.min() }

  /// Those of so many numbers from the first on that did not go back.
  func missing(of count: Int) -> Int {
    guard let first else { return count }
    let sentBack = sentBack
    return (first..<first + count).count { !sentBack.contains($0) }
  }

  /// From painting to when the page gave a frame to its encoder, the middle one of all, in seconds.
  var delay: Double {
    let delays = videoFrames.compactMap { videoFrame in videoFrame.sentBackAt.map { $0 - videoFrame.paintedAt } }
      .sorted()
    return delays.isEmpty ? .nan : delays[delays.count / 2] / 1000
  }

  /// What the page's encoder took for a frame in the mean, in seconds.
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
  /// A page that has no camera and sends back what it receives.
  ///
  /// - Parameter videoFrames: how it hands on each frame, for example `{ after: 150 }`; nil has it send back the tracks as
  ///   they are.
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
