internal import Inspection
internal import Media

extension CompositionPlan {
  /// The most lines of places.
  private static let maximumChanges = 200

  /// The plan for people: who is there, what is shown in place of video, and where the tiles are.
  ///
  /// Who speaks is not known before the audio has been decoded, so layouts that follow the speaker show where tiles are if nobody speaks.
  package func text(_ options: CompositionOptions) -> String {
    var lines = [
      "room \(room), \(ShownTime.text(duration)), \(users.count) \(users.count == 1 ? "user" : "users"), "
        + "\(options.size) at \(options.rate.text) frames a second"
    ]
    for (index, user) in users.enumerated() {
      lines.append("\(user.label): \(user.presence.map(Self.text).joined(separator: ", "))")
      for (number, tile) in tiles.enumerated() where tile.user == index {
        let title = tile.isScreen ? ", screen" : tile.stream == 1 ? "" : ", stream \(tile.stream)"
        lines.append("  tile \(number + 1)\(title): \(tile.presence.map(Self.text).joined(separator: ", "))")
        for span in tile.spans {
          guard let reason = span.state.text else { continue }
          lines.append("    \(Self.text(span.start..<span.end)) \(reason)")
        }
      }
      for gap in sounds.filter({ $0.user == index }).flatMap(\.gaps) {
        lines.append("  audio \(Self.text(gap.start..<gap.end)) \(gap.reason.rawValue)")
      }
    }
    if let line = alignmentLine { lines.append(line) }
    lines += placeLines(options)
    for chapter in chapters { lines.append("chapter \(ShownTime.text(chapter.start)) \(chapter.title)") }
    if !messages.isEmpty { lines.append("\(messages.count) \(messages.count == 1 ? "message" : "messages") of chat") }
    return lines.joined(separator: "\n")
  }

  /// By what the recordings are aligned, and how sure that is; nil for one recording.
  private var alignmentLine: String? {
    var alignments: [UntrustedText: RecordingAlignment] = [:]
    for recording in tiles.flatMap(\.recordings) + sounds.flatMap(\.recordings) {
      alignments[UntrustedText(recording.recording.manifest?.path ?? "")] = recording.alignment
    }
    if alignments.count < 2 { return nil }
    let unsure = alignments.values.filter { $0.error == nil }.count
    if unsure == 0 { return "recordings aligned by the monotonic clock of one process, to 1 ms" }
    return "recordings aligned by wall clocks: \(unsure) of \(alignments.count), as exact as the clocks were set"
  }

  private func placeLines(_ options: CompositionOptions) -> [String] {
    let end = options.rate.firstFrame(at: duration)
    var lines: [String] = []
    for change in schedule(of: options.layout, size: options.size, speech: [], speakers: [], rate: options.rate) {
      if change.frame >= end { break }
      if lines.count == Self.maximumChanges {
        lines.append("…")
        break
      }
      let places = change.placements.map { "tile \($0.tile + 1) \($0.width)x\($0.height) at \($0.x),\($0.y)" }
      let shown = places.isEmpty ? "nobody" : places.joined(separator: "; ")
      lines.append("frame \(change.frame), \(ShownTime.text(options.rate.time(ofFrame: change.frame))): \(shown)")
    }
    return lines
  }

  private static func text(_ range: Range<Int64>) -> String {
    "\(ShownTime.text(range.lowerBound)) to \(ShownTime.text(range.upperBound))"
  }
}

extension PictureState {
  /// What is shown in place of frames; nil for frames, and where there is no tile.
  fileprivate var text: String? {
    switch self {
    case .absent, .frames: nil
    case .nameTile(let reason): "name (\(reason.rawValue))"
    case .held(_, let reason): "last frame (\(reason.rawValue))"
    }
  }
}

extension FrameRate {
  /// For example `30` or `30000/1001`.
  package var text: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}
