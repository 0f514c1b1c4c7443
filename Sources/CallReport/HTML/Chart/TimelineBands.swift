import CallCheck

/// A row of a timeline in which stretches of time are marked.
struct TimelineBands {
  /// How it looks; each has a texture of its own, since colour alone tells nothing to many.
  enum Look: String {
    case freeze, black, still, silent, clipped, gap, impaired
  }

  var name: String
  var look: Look
  var stretches: [(start: Double, duration: Double, text: String)]
  /// For example "3, 2.41 s in all".
  var summary: String

  /// Marked stretches of a row at most.
  static let limit = 200

  /// Nil when there was no such stretch.
  init?(_ name: String, _ look: Look, _ stretches: IntervalSummary?) {
    guard let stretches, stretches.count > 0, !stretches.list.isEmpty else { return nil }
    self.name = name
    self.look = look
    self.stretches = stretches.list.prefix(Self.limit).map { stretch in
      let reason = stretch.reason.map { ", because " + Self.clause($0) } ?? ""
      return (
        stretch.start, stretch.duration,
        "\(ReportFigure.seconds(stretch.duration)) from \(ReportFigure.time(stretch.start)) on\(reason)"
      )
    }
    summary =
      stretches.count == 1
      ? ReportFigure.seconds(stretches.total) : "\(stretches.count), \(ReportFigure.seconds(stretches.total)) in all"
  }

  /// What was done to packets on purpose, in one direction; nil when nothing was.
  init?(_ notes: [CheckReport.ImpairmentNote], direction: String?, until end: Double) {
    let notes = notes.filter { $0.direction == direction && $0.start.isFinite && $0.text != "none" }
    guard !notes.isEmpty else { return nil }
    name =
      switch direction {
      case "send": "Impaired: sending"
      case "receive": "Impaired: receiving"
      default: "Line impaired"
      }
    look = .impaired
    stretches = notes.prefix(Self.limit).map { note in
      let (start, end) = (ReportFigure.time(note.start), note.end ?? end)
      return (
        note.start, max(0, end - note.start),
        ReportText.line("\(note.text), from \(start) to \(ReportFigure.time(end))")
      )
    }
    let only = notes.count == 1 ? notes.first.map { ReportText.line($0.text, limit: 60) } : nil
    summary = only ?? "on purpose, \(notes.count) times"
  }

  /// A reason that the program knows as a clause, another as it stands.
  static func clause(_ reason: String) -> String {
    FreezeReason(rawValue: reason)?.clause ?? AudioGapReason(rawValue: reason)?.clause ?? ReportText.line(reason)
  }
}

extension CheckReport {
  /// The rows of what was done to packets on purpose.
  var impairmentBands: [TimelineBands] {
    [nil, "send", "receive"].compactMap { TimelineBands(impairment, direction: $0, until: duration) }
  }
}

extension PeerReport {
  /// The rows of marked stretches; those that did not occur are left out.
  var bands: [TimelineBands] {
    [
      TimelineBands("Freezes", .freeze, video?.freezes),
      TimelineBands("Black", .black, video?.black),
      TimelineBands("Same picture", .still, video?.frozen),
      TimelineBands("Silence", .silent, audio?.silence),
      TimelineBands("Clipped sound", .clipped, audio?.clipped),
      TimelineBands("Missing sound", .gap, audio?.gaps),
    ].compactMap { $0 }
  }
}
