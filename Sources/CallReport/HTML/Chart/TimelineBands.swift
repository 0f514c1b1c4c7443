import CallCheck

/// A row of a timeline with marked intervals.
struct TimelineBands {
  /// The appearance of a row. Each has its own texture, since many readers cannot rely on colour alone.
  enum Style: String {
    case freeze, black, still, silent, clipped, gap, impaired, message
  }

  var name: String
  var style: Style
  var intervals: [(start: Double, duration: Double, text: String)]
  /// For example "3, 2.41 s in all".
  var summary: String

  /// The maximum number of marked intervals in a row.
  static let limit = 200

  /// Creates a row for intervals; nil if there are none.
  init?(_ name: String, _ style: Style, _ intervals: IntervalSummary?) {
    guard let intervals, intervals.count > 0, !intervals.list.isEmpty else { return nil }
    self.name = name
    self.style = style
    self.intervals = intervals.list.prefix(Self.limit).map { interval in
      let reason = interval.reason.map { ", because " + Self.clause($0) } ?? ""
      return (
        interval.start, interval.duration,
        "\(NumberFormatting.seconds(interval.duration)) at \(NumberFormatting.time(interval.start))\(reason)"
      )
    }
    summary =
      intervals.count == 1
      ? NumberFormatting.seconds(intervals.total)
      : "\(intervals.count), \(NumberFormatting.seconds(intervals.total)) in all"
  }

  /// Creates a row for chat messages, which have no duration; nil if there are none.
  init?(_ messages: [MessageReport]?) {
    guard let messages, !messages.isEmpty else { return nil }
    name = "Messages"
    style = .message
    intervals = messages.prefix(Self.limit).map { message in
      (
        message.time, 0,
        "\(NumberFormatting.time(message.time)), \(ReportText.line(message.name ?? message.from, limit: 40)): "
          + ReportText.line(message.text, limit: 200)
      )
    }
    summary = NumberFormatting.plural(messages.count, "message", "messages")
  }

  /// Creates a row for impairments in one direction; nil if there are none.
  init?(_ notes: [CheckReport.ImpairmentNote], direction: String?, until end: Double) {
    let notes = notes.filter { $0.direction == direction && $0.start.isFinite && $0.text != "none" }
    guard !notes.isEmpty else { return nil }
    name =
      switch direction {
      case "send": "Impaired: sending"
      case "receive": "Impaired: receiving"
      default: "Network impaired"
      }
    style = .impaired
    intervals = notes.prefix(Self.limit).map { note in
      let (start, end) = (NumberFormatting.time(note.start), note.end ?? end)
      return (
        note.start, max(0, end - note.start),
        ReportText.line("\(note.text), from \(start) to \(NumberFormatting.time(end))")
      )
    }
    let only = notes.count == 1 ? notes.first.map { ReportText.line($0.text, limit: 60) } : nil
    summary = only ?? "on purpose, \(notes.count) times"
  }

  /// Returns a known reason as a clause, and another one unchanged.
  static func clause(_ reason: String) -> String {
    FreezeReason(rawValue: reason)?.clause ?? AudioGapReason(rawValue: reason)?.clause ?? ReportText.line(reason)
  }
}

extension CheckReport {
  /// The rows of network impairments.
  var impairmentBands: [TimelineBands] {
    [nil, "send", "receive"].compactMap { TimelineBands(impairment, direction: $0, until: duration) }
  }
}

extension PeerReport {
  /// The rows of marked intervals; empty ones are left out.
  var bands: [TimelineBands] {
    [
      TimelineBands("Freezes", .freeze, video?.freezes),
      TimelineBands("Black", .black, video?.black),
      TimelineBands("Static video", .still, video?.frozen),
      TimelineBands("Silence", .silent, audio?.silence),
      TimelineBands("Clipped audio", .clipped, audio?.clipped),
      TimelineBands("Missing audio", .gap, audio?.gaps),
      TimelineBands(messages),
    ].compactMap { $0 }
  }
}
