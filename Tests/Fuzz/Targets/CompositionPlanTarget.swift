import Composition
import Inspection
import Media
import Recorder

/// Plans of compositions, made from manifests that anybody may have written.
enum CompositionPlanTarget {
  private static let second: Int64 = 720_000
  private static let day = 24 * 3_600 * second

  /// Reads a byte of choices and manifests with a zero byte between them, and plans each call.
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let choices = input.first else { return }
    var recordings: [FoundRecording] = []
    for (index, text) in input.dropFirst().split(separator: 0).prefix(8).enumerated() {
      guard let manifest = try? RecordingManifest(parsing: Array(text)) else { continue }
      recordings.append(FoundRecording(manifest: .init(path: "\(index).json", content: manifest), files: []))
    }
    guard let list = calls(of: recordings) else { return }
    try require(list.text.utf8.count < 100_000, "The list of calls has \(list.text.utf8.count) bytes.")
    for call in list.calls {
      try require(call.duration >= 0, "A call lasts \(call.duration).")
      for plan in [plan(of: call, options(choices)), plan(of: call, options(0))].compactMap(\.self) { try check(plan) }
    }
  }

  private static func calls(of recordings: [FoundRecording]) -> CallList? {
    switch Result(catching: { () throws(CompositionError) in try CallList(of: recordings) }) {
    case .success(let list): return list
    case .failure(let error):
      _ = error.description
      return nil
    }
  }

  private static func plan(of call: FoundCall, _ options: CompositionOptions) -> CompositionPlan? {
    let chat = [
      RecordedChat.Message(time: 1.5, from: "a", name: "A", text: "one\u{202E}two"),
      RecordedChat.Message(time: 1e9, from: "b", text: ""),
    ]
    return try? CompositionPlan(of: call, options: options) { _ in chat }
  }

  private static func options(_ choices: UInt8) -> CompositionOptions {
    var options = CompositionOptions(
      inputs: ["."], output: "a.mp4", format: OutputFormat(container: .mp4, video: .h264, audio: .aac))
    options.hasChapters = choices & 1 == 0
    if choices & 2 != 0 { options.from = 2 * second }
    if choices & 4 != 0 { options.to = 5 * second + 1 }
    if choices & 8 != 0 { options.excluded = ["anna"] }
    if choices & 16 != 0 { options.renamed = ["anna": "\u{202E}\u{0}Ben"] }
    if choices & 32 != 0 { options.layout = .speaker }
    return options
  }

  // MARK: What holds for every plan

  private static func check(_ plan: CompositionPlan) throws(InvariantViolation) {
    try require((1...day).contains(plan.duration), "A composition lasts \(plan.duration).")
    try require(plan.users.count <= 200, "There are \(plan.users.count) users.")
    for user in plan.users {
      try require(!user.label.isEmpty && user.label.count <= 50, "A label has \(user.label.count) characters.")
      try require(
        user.label.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "A label has controls.")
      try check(user.presence, in: plan, "presence of a user")
    }
    for tile in plan.tiles {
      try require(plan.users.indices.contains(tile.user) && tile.stream >= 1, "A tile belongs to nobody.")
      try require(!tile.spans.isEmpty, "A tile has no span.")
      for (one, next) in zip(tile.spans, tile.spans.dropFirst()) {
        try require(one.end == next.start, "The spans of a tile have a hole or overlap.")
      }
      try check(tile.spans.map { ($0.start, $0.end) }, in: plan, "spans of a tile")
      try check(tile.presence, in: plan, "presence of a tile")
      try check(tile.recordings.map(\.range), in: plan, "recordings of a tile")
      for time in [tile.start, (tile.start + tile.end) / 2, tile.end - 1, tile.end] { _ = tile.spans.look(at: time) }
    }
    for sound in plan.sounds {
      try require(plan.users.indices.contains(sound.user), "A sound belongs to nobody.")
      try check(sound.recordings.map(\.range), in: plan, "recordings of a sound")
      try check(sound.gaps.map { ($0.start, $0.end) }, in: plan, "gaps of a sound")
      try require(
        sound.gaps.allSatisfy { $0.repaired >= 0 && $0.repaired <= $0.end - $0.start }, "A gap is repaired too much.")
    }
    for (one, next) in zip(plan.chapters, plan.chapters.dropFirst()) {
      try require(one.start < next.start, "The chapters are not in order.")
    }
    try require(plan.chapters.allSatisfy { (0..<plan.duration).contains($0.start) }, "A chapter is outside.")
    for message in plan.messages {
      try require(
        message.start >= 0 && message.start < message.end && message.end <= plan.duration,
        "A message is shown from \(message.start) to \(message.end).")
    }
    try checkLayout(of: plan)
  }

  private static func check(
    _ ranges: [Range<Int64>], in plan: CompositionPlan, _ name: String
  ) throws(InvariantViolation) {
    try check(ranges.map { ($0.lowerBound, $0.upperBound) }, in: plan, name)
  }

  /// Ranges are within the composition, not empty, in order, and do not overlap.
  private static func check(
    _ ranges: [(start: Int64, end: Int64)], in plan: CompositionPlan, _ name: String
  ) throws(InvariantViolation) {
    var last: Int64 = 0
    for (start, end) in ranges {
      try require(
        start >= last && start < end && end <= plan.duration,
        "The \(name) are not in order or leave the composition: \(start) to \(end).")
      last = end
    }
  }

  private static func checkLayout(of plan: CompositionPlan) throws(InvariantViolation) {
    let schedule = plan.schedule(
      of: .grid, size: .init(width: 1280, height: 720), speech: [], speakers: [], rate: .standard)
    var frame: Int64 = -1
    for change in schedule {
      try require(change.frame > frame, "A change of the layout is not later than the one before.")
      frame = change.frame
      let present = plan.tiles.filter { tile in
        tile.presence.contains {
          FrameRate.standard.firstFrame(at: $0.lowerBound) <= frame
            && frame < FrameRate.standard.firstFrame(at: $0.upperBound)
        }
      }
      try require(
        change.placements.count == min(25, present.count),
        "At frame \(frame) there are \(change.placements.count) tiles of \(present.count).")
    }
  }
}
