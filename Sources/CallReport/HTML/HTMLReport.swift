public import CallCheck

/// A report as one HTML file that needs nothing else: no network, no file beside it, and no script but for what moves.
///
/// The reader is somebody whose test went red: the first screen says what failed, by how much, when in the call, and what else
/// happened at that time. It is XHTML as well, and the same report gives the same bytes.
public struct HTMLReport: Sendable {
  let report: CheckReport
  let recordings: [String: Recording]

  /// What is known of a media file of a peer.
  public enum Recording: Sendable {
    /// Its bytes: it is put into the page, as long as ``maximumEmbedded`` allows it.
    case bytes([UInt8])
    /// Where it lies, relative to the page: the page links to it.
    case file(String)
  }

  /// The largest media file that is put into the page, in bytes; for a larger one there is a link.
  public static let maximumEmbedded = 12 << 20
  /// The same for all files together.
  public static let maximumEmbeddedInAll = 48 << 20

  /// - Parameter recordings: the media files of ``PeerReport/recordings`` by the names that they have there; for one that is
  ///   missing here the page links to that name.
  public init(_ report: CheckReport, recordings: [String: Recording] = [:]) {
    self.report = report
    self.recordings = recordings
  }

  var axis: TimeAxis { TimeAxis(duration: report.duration) }

  /// The page.
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
        // As XML a script is text, in which `<` and `&` are signs of their own.
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
    let parties = report.parties
    verdict(into: &page)
    failures(of: parties, into: &page)
    comparison(into: &page)
    matrix(of: parties, into: &page)
    for party in parties {
      if party.index == nil { room(party, into: &page) } else { peer(party, into: &page) }
    }
  }

  /// The room, or what else was judged, in two words.
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

  /// The name by which parts of the page are found.
  static func anchor(_ party: ReportParty) -> String { party.index.map { "peer-\($0)" } ?? "room" }
}
