internal import CallCheck
internal import Media

/// A load's report as a table.
public struct LoadTable: Sendable {
  private let report: LoadReport

  public init(_ report: LoadReport) {
    self.report = report
  }

  /// The lines without control characters; all except the reasons of errors, rules and a long address fit into 80 columns.
  public var lines: [String] {
    var lines = [heading]
    if report.publishers > 0 { lines += publishers }
    if let viewers = report.viewers { lines += self.lines(of: viewers) }
    if let data = report.data { lines += self.lines(of: data) }
    if let lateness = report.lateness, report.sent.packets > 0 {
      lines.append(Self.line("late", "99 % of frames were sent within \(Self.decimal(lateness)) ms"))
    }
    lines += Self.lines("refused", report.refused?.prefix(Self.maximumRefusals) ?? [])
    lines += Self.lines("failed", report.failures.prefix(Self.maximumFailures))
    let more = report.failures.count - Self.maximumFailures
    if more > 0 { lines.append(Self.line("", "and \(Self.plural(more, "more reason"))")) }
    return lines + Self.lines(of: report.results ?? [])
  }

  /// The lines of the rules that do not hold; empty if all hold.
  public var failedRules: [String] { Self.lines(of: (report.results ?? []).filter { !$0.holds }) }

  private static func lines(of results: [RuleResult]) -> [String] {
    results.enumerated().map { index, result in
      let outcome = result.holds ? "held" : "failed"
      return line(index == 0 ? "rules" : "", "\(outcome): \(result.rule). \(result.sentence)")
    }
  }

  /// The numbers of refusals and of failures that are shown.
  private static let maximumRefusals = 8
  private static let maximumFailures = 10

  private static func lines(_ name: String, _ failures: ArraySlice<LoadReport.Failure>) -> [String] {
    failures.enumerated().map { index, failure in
      line(index == 0 ? name : "", "\(failure.count) x \(DisplayText.plain(failure.reason, longest: 200))")
    }
  }

  private var heading: String {
    var people: [String] = []
    if report.publishers > 0 { people.append(Self.plural(report.publishers, "publisher")) }
    if let viewers = report.viewers { people.append(Self.plural(viewers.requested, "viewer")) }
    let started = report.started + (report.viewers?.started ?? 0)
    let requested = report.publishers + (report.viewers?.requested ?? 0)
    let since =
      started < requested ? "since the beginning; \(started) started" : "since the last one started"
    return "\(people.joined(separator: " and ")) \(place), \(Self.decimal(report.seconds)) s \(since)"
  }

  /// The room, or the whole address where that names the room.
  private var place: String {
    report.room == report.server
      ? "at \(DisplayText.plain(report.server, longest: Self.maximumAddress))"
      : "in room \(DisplayText.plain(report.room, longest: Self.maximumRoom))"
  }

  private static func plural(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  private var publishers: [String] {
    var lines = ["", Self.row("", ["reached", "median", "95 %", "worst"])]
    lines.append(times("joined", "\(report.joined) of \(report.publishers)", report.joinTime))
    lines.append(times("connected", "\(report.connected) of \(report.publishers)", report.connectTime))
    lines.append(times("round trip", "", report.roundTripTime))
    lines.append("")
    lines.append(
      Self.line(
        "sent",
        "\(Self.grouped(report.sent.packets)) packets, \(Self.grouped(report.sent.frames)) frames, "
          + "\(Self.bytes(report.sent.bytes)); \(DisplayText.bitrate(report.sent.bitrate))"))
    // Nothing is lost of nothing.
    if report.sent.packets > 0 {
      let lost = "\(Self.grouped(report.lost.packets)) packets, \(Self.percent(report.lost.fraction))"
      lines.append(Self.line("lost", report.lost.reports == 0 ? "no receiver reported" : lost))
      lines.append(Self.line("keyframes", "\(Self.grouped(report.keyframeRequests)) requested"))
    }
    let received = receivedByPublishers
    if received.packets > 0 {
      lines.append(
        Self.line(
          "received",
          "\(Self.grouped(received.packets)) packets, \(Self.grouped(received.frames)) frames, "
            + Self.bytes(received.bytes)))
    }
    return lines
  }

  /// What arrived apart from what viewers received.
  private var receivedByPublishers: LoadReport.Received {
    func rest(_ all: UInt64, _ viewers: UInt64?) -> UInt64 { all - min(all, viewers ?? 0) }
    let (all, viewers) = (report.received, report.viewers?.received)
    return LoadReport.Received(
      frames: rest(all.frames, viewers?.frames), packets: rest(all.packets, viewers?.packets),
      bytes: rest(all.bytes, viewers?.bytes))
  }

  private func lines(of viewers: LoadReport.Viewers) -> [String] {
    let all = viewers.requested
    let received = viewers.received
    var lines = ["", Self.row("viewers", ["reached", "median", "95 %", "worst"])]
    lines.append(times("joined", "\(viewers.joined) of \(all)", viewers.joinTime))
    lines.append(times("connected", "\(viewers.connected) of \(all)", viewers.connectTime))
    lines.append(times("first frame", "\(viewers.receiving) of \(all)", viewers.firstFrameTime))
    if report.publishers == 0 { lines.append(times("round trip", "", report.roundTripTime)) }
    lines.append("")
    let lowest = viewers.lowestBitrate.map { ", at least \(DisplayText.bitrate($0)) each" } ?? ""
    lines.append(
      Self.line(
        "received",
        "\(Self.grouped(received.packets)) packets, \(Self.grouped(received.frames)) frames, "
          + "\(Self.bytes(received.bytes)); \(DisplayText.bitrate(received.bitrate))\(lowest)"))
    if received.packets > 0 {
      lines.append(
        Self.line(
          "lost",
          "\(Self.grouped(received.lost.packets)) packets, \(Self.percent(received.lost.fraction)); "
            + "\(Self.grouped(received.recovered)) recovered"))
    }
    lines.append(
      Self.line(
        "freezes",
        received.freezes == 0
          ? (viewers.receiveVideo ? "none" : "no viewer received video")
          : "\(received.freezes), \(Self.decimal(received.frozenTime)) ms in all, "
            + "\(Self.decimal(received.longestFreeze)) ms the longest"))
    return lines
  }

  private func lines(of data: LoadReport.DataTotals) -> [String] {
    let lost = data.sent > 0 ? Double(data.lost) / Double(data.sent) : 0
    let messages = Self.line(
      "messages",
      "\(Self.grouped(UInt64(data.returned))) of \(Self.grouped(UInt64(data.sent))) came back, "
        + "\(Self.percent(lost)) lost; \(DisplayText.bitrate(data.throughput))")
    return [messages] + (data.roundTripTime.map { [times("their trip", "\(data.opened)", $0)] } ?? [])
  }

  /// The maximum length of the room's name, in characters.
  private static let maximumRoom = 24
  /// The maximum length of an address, in characters.
  private static let maximumAddress = 200

  private func times(_ name: String, _ reached: String, _ times: LoadReport.Distribution?) -> String {
    let figures = times.map { [$0.median, $0.p95, $0.worst].map { "\(Self.decimal($0)) ms" } } ?? ["-", "-", "-"]
    return Self.row(name, [reached] + figures)
  }

  // MARK: Figures

  private static func row(_ name: String, _ cells: [String]) -> String {
    line(name, cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }.joined(separator: "  "))
  }

  private static func line(_ name: String, _ text: String) -> String {
    "  " + name + String(repeating: " ", count: max(1, 12 - name.count)) + text
  }

  /// Formats a number with one decimal.
  static func decimal(_ value: Double) -> String { DisplayText.tenths(value) }

  static func percent(_ share: Double) -> String {
    let hundredths = DisplayText.whole(share * 10_000)
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
  }

  /// Formats a number with a comma before each group of three digits: `1,234,567`.
  static func grouped(_ number: UInt64) -> String {
    let digits = Array("\(number)")
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digits[index])
    }
  }

  /// Formats a size: `999 B`, `1.5 kB`, `312.4 MB`, `1.2 GB`.
  static func bytes(_ number: UInt64) -> String {
    switch Double(number) {
    case 1e9...: "\(decimal(Double(number) / 1e9)) GB"
    case 1e6...: "\(decimal(Double(number) / 1e6)) MB"
    case 1e3...: "\(decimal(Double(number) / 1e3)) kB"
    default: "\(number) B"
    }
  }
}
