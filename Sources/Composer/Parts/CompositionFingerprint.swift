internal import CChecksums
internal import CFiles
internal import Composition
internal import Inspection
internal import Media

/// What the finished parts of a composition depend on: the options and the recordings.
enum CompositionFingerprint {
  /// The format of parts, and what is drawn; it grows when either changes.
  private static let version = 2

  static func bytes(_ plan: CompositionPlan, _ options: CompositionOptions) -> [UInt8] {
    var options = options
    let renamed = options.renamed.map { "\(Array($0.key.utf8))=\(Array($0.value.utf8))" }.sorted()
    options.renamed = [:]
    // These say where and whether something is written, not what.
    (options.inputs, options.output, options.report, options.isForced) = ([], "", nil, false)
    var lines = ["version \(version)", "options \(checksum("\(options)"))", "renamed \(checksum("\(renamed)"))"]
    lines.append("duration \(plan.duration) start \(plan.start)")
    for tile in plan.tiles {
      lines.append("tile \(tile.user) \(tile.stream) \(checksum("\(tile.spans) \(tile.label)"))")
      lines += tile.recordings.map(line)
    }
    for sound in plan.sounds {
      lines.append("sound \(sound.user) \(sound.stream)")
      lines += sound.recordings.map(line)
    }
    let text = lines.map { "\"\($0)\"" }.joined(separator: ",\n  ")
    return Array("[\n  \(text)\n]\n".utf8)
  }

  private static func line(_ recording: PlannedRecording) -> String {
    let files = [recording.recording.manifest?.path].compactMap(\.self) + recording.recording.files.map(\.path)
    let versions = files.map { path in
      var version = cfiles_version()
      guard cfiles_read_version(path, &version) == 0 else { return "-" }
      return "\(checksum(path)) \(version.bytes) \(version.seconds).\(version.nanoseconds)"
    }
    return "recording \(recording.offset) \(recording.range) \(versions.joined(separator: ", "))"
  }

  private static func checksum(_ text: String) -> UInt32 {
    PartFormat.checksum(Array(text.utf8)[...])
  }
}
