internal import Media

/// The summary for people.
extension SessionSummary {
  /// The number of users that ``text`` lists.
  public static let maximumLines = 100
  /// The columns up to which shorter names are filled with spaces.
  private static let maximumColumns = 60

  /// One text line for the call, and one for each user, with a further one for each section that was refused. Texts of others are
  /// printable.
  ///
  ///     Room 100, 2026-03-01 09:30:00 to 09:35:12 UTC: 2 users, 1 recorded. It ended because the duration has passed.
  ///       Alice (3f2a91)  0:00:03 to 0:05:12  recorded, 2 files, 309.1 s
  ///       Carl (77b1c0)   0:01:00 to 0:01:00  not recorded: left after 0.4 s, before media arrived
  public var text: String {
    var lines = [headline]
    let shown = users.prefix(Self.maximumLines)
    let names = shown.map { Self.name(of: $0) }
    let width = min(names.map(DisplayText.width).max() ?? 0, Self.maximumColumns)
    for (user, name) in zip(shown, names) {
      let space = String(repeating: " ", count: max(0, width - DisplayText.width(name)))
      lines.append(
        "  \(name)\(space)  \(Self.time(user.fromSeconds)) to \(Self.time(user.toSeconds))  \(outcome(of: user))")
      let others = (user.refused ?? []).filter { $0 != user.explanation }
      lines += others.map { "    \($0.printable(utf8Bytes: 500))" }
    }
    let rest = users.count - shown.count + usersOmitted
    if rest > 0 { lines.append("  and \(rest) more") }
    return lines.joined(separator: "\n")
  }

  private var headline: String {
    let count = users.count == 1 ? "1 user" : "\(users.count) users"
    let recorded = recording ? ", \(recordedUsers) recorded" : ""
    let reason = endReason.text.printable(utf8Bytes: 500)
    let sentence = reason.hasSuffix(".") ? reason : "\(reason)."
    // A clause can follow "because", a sentence of a server cannot.
    let isClause = sentence.first?.isUppercase != true
    return "Room \(room.printable(utf8Bytes: 100)), \(Self.day(start)) \(Self.clock(start)) to \(Self.clock(end)) UTC: "
      + "\(count)\(recorded). It ended\(isClause ? " because" : ":") \(sentence)"
  }

  private func outcome(of user: User) -> String {
    guard user.recorded else {
      if !recording { return user.presentAtEnd ? "there at the end" : "left" }
      return "not recorded: \((user.explanation ?? "").printable(utf8Bytes: 500))"
    }
    let recordings = user.recordings ?? []
    let files = recordings.reduce(0) { $0 + $1.fileCount }
    // A stream has a recording for each connection; streams of one user are recorded at the same time.
    let longest = recordings.reduce(into: [:]) { $0[$1.stream, default: 0] += $1.duration }.values.max() ?? 0
    return "recorded, \(files == 1 ? "1 file" : "\(files) files"), \(DisplayText.tenths(longest)) s"
      + (user.stays.map { ", came \($0) times" } ?? "")
  }

  private static func name(of user: User) -> String {
    DisplayName.label(user.name, id: ParticipantID(user.id.prefix(utf8Bytes: 60)))
  }

  /// Hours, minutes and seconds.
  private static func time(_ seconds: Double) -> String {
    let whole = DisplayText.whole(seconds)
    func digits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(whole / 3_600):\(digits(whole / 60 % 60)):\(digits(whole % 60))"
  }

  private static func day(_ date: String) -> String { String(date.prefix(10)) }
  private static func clock(_ date: String) -> String { String(date.dropFirst(11).prefix(8)) }
}
