import COpenSSL
public import CallCheck
import FoundationEssentials

/// A report as one self-contained HTML file: it needs no network and no other file, and its script only adds
/// interaction.
///
/// The reader is somebody whose test failed: the first screen says what failed, by how much, when in the call, and what
/// else happened at that time. The page is also valid XHTML, and the same report gives the same bytes.
public struct HTMLReport: Sendable {
  let report: CheckReport
  let recordings: [String: Recording]

  /// A media file of a peer.
  public enum Recording: Sendable {
    /// The file's bytes: they are embedded in the page if they are at most 12 MiB, and those of all files at most 48 MiB.
    case bytes([UInt8])
    /// The file's path relative to the page: the page links to it.
    case file(String)
  }

  /// The maximum size of an embedded media file, in bytes; the page links to larger ones.
  package static let maximumEmbedded = 12 << 20
  /// The maximum size of all embedded files together.
  package static let maximumTotalEmbedded = 48 << 20

  /// Creates the page of a report.
  ///
  /// - Parameters:
  ///   - report: what the page shows.
  ///   - recordings: the media files of `PeerReport.recordings`, by the names used there; the page links to the name of
  ///     a missing one.
  public init(_ report: CheckReport, recordings: [String: Recording] = [:]) {
    self.report = report
    self.recordings = recordings
  }

  var axis: TimeAxis { TimeAxis(duration: report.duration) }

  /// The page as text.
  public var text: String {
    var page = Markup()
    page.write(trusted: "<!DOCTYPE html>\n")
    page.element("html", ["lang": "en"]) { page in
      head(into: &page)
      page.newLine()
      page.element("body") { page in
        page.newLine()
        page.element("main") { body(into: &$0) }
        footer(into: &page)
        // In XML, a script is text in which `<` and `&` are markup.
        page.element("script") { $0.write(trusted: HTMLPage.script) }
      }
    }
    page.newLine()
    return page.text
  }

  private func head(into page: inout Markup) {
    page.element("head") { page in
      page.empty("meta", ["charset": "utf-8"])
      page.empty("meta", ["http-equiv": "Content-Security-Policy", "content": HTMLPage.policy])
      page.empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
      page.empty("meta", ["name": "color-scheme", "content": "light dark"])
      page.empty("meta", ["name": "generator", "content": ReportText.line(report.writer)])
      page.element("title", text: "\(verdictWord): \(position) \u{2013} call check")
      page.element("style") { $0.write(trusted: HTMLPage.style) }
    }
  }

  private func body(into page: inout Markup) {
    let sections = report.sections
    verdict(into: &page)
    failures(of: sections, into: &page)
    comparison(into: &page)
    matrix(of: sections, into: &page)
    for section in sections {
      if section.index == nil { room(section, into: &page) } else { peer(section, into: &page) }
    }
  }

  /// The subject of the check in two words: a room or a recording.
  var position: String {
    let room = ReportText.line(report.room, limit: 60)
    return report.subject == .call ? "room \(room)" : "recording \(room)"
  }

  var verdictWord: String {
    switch report.verdict {
    case .held: "Passed"
    case .failed: "Failed"
    case .inconclusive: "Inconclusive"
    }
  }

  /// Returns the HTML id of the section of the room or of a peer.
  static func anchor(_ section: ReportSection) -> String { section.index.map { "peer-\($0)" } ?? "room" }
}

/// The parts common to all pages: style, script and security policy.
enum HTMLPage {
  static let style = "\n" + String(decoding: PackageResources.report_css, as: UTF8.self)

  static let script =
    "/*<![CDATA[*/\n" + String(decoding: PackageResources.report_js, as: UTF8.self) + "/*]]>*/"

  /// The content security policy: the page loads nothing, sends nothing, and runs no style or script but these two,
  /// even if text from the network were interpreted as markup.
  static let policy =
    "default-src 'none'; img-src data:; media-src data:; style-src '\(hash(style))'; script-src '\(hash(script))'; "
    + "base-uri 'none'; form-action 'none'"

  /// Returns a hash source for the policy (CSP 3, 2.3.1), with OpenSSL's SHA-256.
  static func hash(_ text: String) -> String {
    let text = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    // Without a digest, the browser blocks style and script: that is safe and immediately visible.
    guard EVP_Digest(text, text.count, &digest, &count, EVP_sha256(), nil) == 1 else { return "none" }
    return "sha256-" + Data(digest.prefix(Int(count))).base64EncodedString()
  }
}
