import CallCheck
import CallCheckTestSupport
import CallReport
import Codecs
import Foundation
import Media
import TestSupport
import Testing

@Suite("The HTML report")
struct HTMLReportTests {
  private static let reports: [String: CheckReport] = [
    "held": SampleReport.held, "failed": SampleReport.failed, "never": SampleReport.neverEstablished,
    "hostile": SampleReport.hostile, "screen": SampleReport.screen,
    "empty": SampleReport.report(peers: [], summary: "", results: []),
  ]
  private static let names = reports.keys.sorted()

  private static let pages = reports.mapValues { HTMLReport($0).text }

  private func page(_ name: String) throws -> String { try #require(Self.pages[name]) }

  @Test("is well-formed: every element is closed", arguments: names)
  func isWellFormed(name: String) throws {
    let problem = ParsedXML.problem(of: try page(name))
    #expect(problem == nil)
  }

  @Test("loads nothing and links only to itself and to the recordings", arguments: names)
  func needsNoNetwork(name: String) throws {
    let elements = ParsedXML.elements(of: try page(name))
    for element in elements {
      for (attribute, value) in element.attributes {
        switch attribute {
        case "href":
          let isOwn = value.hasPrefix("#") || !(value.contains(":") || value.hasPrefix("//") || value.hasPrefix("\\"))
          #expect(isOwn)
        case "src":
          let isData = value.hasPrefix("data:image/webp;base64,") || value.hasPrefix("data:video/webm;base64,")
          #expect(isData)
        case "srcset", "action", "formaction", "poster", "background", "ping", "xlink:href", "style":
          Issue.record("\(attribute)")
        default: #expect(!attribute.hasPrefix("on"))
        }
      }
    }
    let known: Set = [
      "html", "head", "meta", "title", "style", "body", "main", "header", "footer", "section", "article", "p", "h1",
      "h2", "h3",
      "h4", "bdi", "svg", "circle", "path", "rect", "line", "text", "dl", "div", "dt", "dd", "table", "thead", "tbody",
      "tr", "th",
      "td", "code", "span", "small", "strong", "a", "ul", "li", "details", "summary", "figure", "figcaption", "img",
      "video",
      "audio", "output", "script",
    ]
    let strange = Set(elements.map(\.name)).subtracting(known)
    #expect(strange.isEmpty)
    let (scripts, styles) = (elements.count { $0.name == "script" }, elements.count { $0.name == "style" })
    #expect(scripts == 1)
    #expect(styles == 1)
    for text in elements where text.name == "style" || text.name == "script" {
      let isOwn = !text.text.contains("://") && !text.text.contains("@import") && !text.text.contains("url(")
      #expect(isOwn)
    }
  }

  @Test("allows no script, style or resource but its own")
  func hasAStrictPolicy() throws {
    let elements = ParsedXML.elements(of: try page("hostile"))
    let policy = try #require(
      elements.first { $0.attributes["http-equiv"] == "Content-Security-Policy" }?.attributes["content"])
    #expect(policy.hasPrefix("default-src 'none'; img-src data:; media-src data:; style-src 'sha256-"))
    #expect(!policy.contains("unsafe"))
  }

  @Test("has a policy with the hashes of exactly its style and script")
  func policyFits() throws {
    let page = try page("failed")
    for name in ["style", "script"] {
      let begin = try #require(page.range(of: "<\(name)>"))
      let end = try #require(page.range(of: "</\(name)>"))
      let content = String(page[begin.upperBound..<end.lowerBound])
      let hash = try Self.hash(content)
      let isNamed = page.contains("\(name)-src &#39;sha256-\(hash)&#39;")
      #expect(isNamed)
      #expect(content.utf8.count > 1000)
    }
  }

  /// Returns the SHA-256 of a text as sha256sum computes it, in Base64.
  private static func hash(_ text: String) throws -> String {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(text.utf8).write(to: file)
    let result = try ExternalTool.run("sha256sum", [file.path])
    try #require(result.status == 0, "\(result.errors)")
    let digits = Array(result.output.prefix(64))
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    try #require(bytes.count == 32)
    return Data(bytes).base64EncodedString()
  }

  @Test("shows every value and every sentence of the results")
  func showsFigures() throws {
    let report = SampleReport.failed
    let text = ParsedXML.elements(of: try page("failed")).map(\.text).joined(separator: "\n")
    for result in report.results {
      let isThere =
        text.contains(result.sentence) && result.figure.map { text.contains($0) } == true && text.contains(result.rule)
      #expect(isThere)
    }
    for sentence in [
      "Failed", report.summary, "4.06 times the limit", "8.1 s \u{2013} 10.1 s", "loss rose to 3",
      "2 keyframes were requested",
      "this check impaired the network on purpose (receive: loss=20%,burst=5)",
      "Longest freeze: 120 ms before, 2.03 s now.",
      "2026-11-20 02:00:00 UTC", "10.0.0.9:41044", "SRTP_AES128_CM_SHA1_80", "DTLS connected", "36.2 dB, worst 28.8 dB",
    ] {
      let isThere = text.contains(sentence)
      #expect(isThere, "\(sentence)")
    }
  }

  @Test("says which step a call reached that was never established, and which it did not reach")
  func tellsOfNoCall() throws {
    let text = ParsedXML.elements(of: try page("never")).map(\.text).joined(separator: "\n")
    for sentence in [
      "The call was never established.", "the peer offered only mDNS names",
      "\u{2717} never, although the check waited 29.26 s", "4 rules could not be measured",
    ] {
      let isThere = text.contains(sentence)
      #expect(isThere, "\(sentence)")
    }
  }

  @Test("keeps text from the network from becoming markup, reversing its direction or growing without limit")
  func isEscaped() throws {
    let page = try page("hostile")
    #expect(!page.contains("<script>alert"))
    #expect(!page.contains("<img src=x"))
    let bad = page.unicodeScalars.count { $0 != "\n" && !ReportText.isPrintable($0) }
    #expect(bad == 0)
    let links = ParsedXML.elements(of: page).compactMap { $0.attributes["href"] }.filter { !$0.hasPrefix("#") }
    #expect(
      links == ["javascript%3Aalert%281%29//%22%3E%3Cscript%3Ealert%282%29%3C/script%3E.webm", "/evil.example/x.webm"])
    let longest =
      ParsedXML.elements(of: page).filter { $0.name != "script" && $0.name != "style" }.map(\.text.count).max() ?? 0
    #expect(longest <= 1001)
  }

  @Test("embeds recordings as players, and links to those that are too large")
  func playsRecordings() throws {
    var report = SampleReport.held
    report.peers[0].recordings = ["out/a b.webm", "out/c.ogg", "out/large.webm", "out/other.webm"]
    let page = HTMLReport(
      report,
      recordings: [
        "out/a b.webm": .bytes([0x1A, 0x45, 0xDF, 0xA3]), "out/c.ogg": .bytes(Array("OggS".utf8)),
        "out/large.webm": .bytes([UInt8](repeating: 0, count: HTMLReport.maximumEmbedded + 1)),
        "out/other.webm": .file("media/other one.webm"),
      ]
    ).text
    let elements = ParsedXML.elements(of: page)
    #expect(elements.first { $0.name == "video" }?.attributes["src"] == "data:video/webm;base64,GkXfow==")
    #expect(elements.first { $0.name == "audio" }?.attributes["src"] == "data:audio/ogg;base64,T2dnUw==")
    #expect(elements.count { $0.name == "video" } == 1)
    let links = elements.filter { $0.name == "a" }.compactMap { $0.attributes["href"] }.filter { !$0.hasPrefix("#") }
    #expect(links == ["out/large.webm", "media/other%20one.webm"])
  }

  @Test("stays small for a call of three hours and keeps the extreme values")
  func isBounded() throws {
    let length = 3 * 3600.0
    var peer = SamplePeer(id: "long", length: length, freeze: (4000, 40, .lost), lossAtFreeze: 0.5).report
    peer.video?.freezes.list = (0..<200).map { Interval(start: Double($0) * 50, duration: 3, reason: "lost") }
    peer.timeline.fps[1234] = 87
    peer.thumbnails = []
    let report = SampleReport.report(peers: [peer], summary: "", results: [])
    let page = HTMLReport(report).text
    print(
      "measured: page of a call of 3 h without thumbnails: \(page.utf8.count) bytes, \(peer.timeline.fps.count) steps a row"
    )
    #expect(page.utf8.count < 400_000)
    let elements = ParsedXML.elements(of: page)
    let lines = elements.filter { $0.name == "path" && ($0.attributes["class"] ?? "").hasPrefix("line") }
    let most = lines.map { ($0.attributes["d"] ?? "").count { $0 == "L" || $0 == "M" } }.max() ?? 0
    #expect(most <= 600)
    let label = elements.first { ($0.attributes["aria-label"] ?? "").hasPrefix("Frame rate") }?.attributes[
      "aria-label"]
    #expect(label?.contains("highest 87.0 fps") == true)
    let values = elements.compactMap { $0.attributes["data-values"] }.first ?? ""
    #expect(values.contains("\u{2026}87.0"))
  }

  @Test("takes less than 1 MB for each peer, also with noise in every frame", arguments: [0, 1, 15])
  func isSmall(furtherStreams: Int) throws {
    var generator = SeededGenerator(seed: 7)
    var peer = SamplePeer(id: "long", length: 3 * 3600, freeze: (4000, 40, .lost), lossAtFreeze: 0.5).report
    peer.thumbnails = (0..<12).map { index in
      var videoFrame = VideoFrame(size: VideoSize(width: 160, height: index == 0 ? 640 : 120))
      for position in videoFrame.luma.indices { videoFrame.luma[position] = .random(in: 16...235, using: &generator) }
      return Thumbnail(time: Double(index) * 900, videoFrame: videoFrame)
    }
    let second = try #require(SampleReport.screen.peers[0].streams?.first)
    peer.streams = (0..<furtherStreams).map { index in
      var stream = second
      stream.number = index + 2
      stream.thumbnails = peer.thumbnails
      return stream
    }
    let page = HTMLReport(SampleReport.report(peers: [peer], summary: "", results: [])).text
    let images = ParsedXML.elements(of: page).filter { $0.name == "img" }
    print(
      "measured: page of a peer with \(1 + furtherStreams) streams: \(page.utf8.count) bytes, \(images.count) frames")
    #expect(page.utf8.count < 1_000_000)
    #expect(images.count >= 12)
  }

  @Test("is the same for the same report, byte for byte")
  func isTheSame() throws {
    let (first, second) = (try page("failed"), HTMLReport(SampleReport.failed).text)
    #expect(Array(first.utf8).elementsEqual(second.utf8))
  }

  @Test("links are relative to the folder of the page")
  func links() {
    #expect(HTMLReport.link(to: "/a/b/out/x.webm", from: "/a/b/report.html") == "out/x.webm")
    #expect(HTMLReport.link(to: "/a/out/x.webm", from: "/a/b/report.html") == "../out/x.webm")
    #expect(HTMLReport.link(to: "/a/b/../out/x.webm", from: "/a/b/report.html") == "../out/x.webm")
  }

  /// Writes pages for inspection by a person, if a directory for them is set.
  @Test("can be inspected by a person", .enabled(if: ProcessInfo.processInfo.environment["CALLCHECK_PAGES"] != nil))
  func pagesForTheEye() throws {
    let folder = ProcessInfo.processInfo.environment["CALLCHECK_PAGES"] ?? "."
    let media = try? [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/test.webm")))
    let recordings = media.map { ["out/b9a7c2d4.webm": HTMLReport.Recording.bytes($0)] } ?? [:]
    for name in Self.names {
      let report = try #require(Self.reports[name])
      let page = HTMLReport(report, recordings: recordings).text
      try page.write(toFile: "\(folder)/\(name).html", atomically: true, encoding: .utf8)
      try report.junit.write(toFile: "\(folder)/\(name).xml", atomically: true, encoding: .utf8)
    }
  }
}
