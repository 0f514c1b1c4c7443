internal import Media

/// The summary of a finished recording, for people.
extension RecordingSummary {
  /// The paths on one text line, then one text line for each track, and one for each of the first problems. A further
  /// stream of a user has a text line that says what it is.
  public var text: String {
    var lines = [paths.joined(separator: " ")]
    let user = DisplayName.label(manifest.name, id: ParticipantID(manifest.user.prefix(utf8Bytes: 100)))
    if stream == 1, manifest.name != nil { lines.append("  user \(user)") }
    if stream > 1 {
      lines.append("  stream \(stream) of \(user)" + (manifest.stream.content.map { ": \($0)" } ?? ""))
    }
    if let video = track(.video) {
      lines.append(
        "  video \(video.codec) \(Self.text(of: video.sizes ?? []))\(Self.text(of: video.orientations ?? [])), \(seconds(video.duration)) s, \(video.frames) frames, "
          + "\(video.keyframes ?? 0) keyframes, \(losses(video))\(paused(video))\(unwritten(video))")
    }
    if let audio = track(.audio) {
      lines.append(
        "  audio \(audio.codec), \(seconds(audio.duration)) s, \(audio.frames) packets, "
          + "\(losses(audio))\(paused(audio))\(unwritten(audio))")
    }
    if manifest.tracks.isEmpty { lines.append("  no media") }
    let problems = manifest.problems
    lines += problems.prefix(Self.maximumProblems).map { "  problem: \($0)" }
    if problems.count > Self.maximumProblems {
      lines.append("  and \(problems.count - Self.maximumProblems) more problems; the manifest lists them")
    }
    return lines.joined(separator: "\n")
  }

  private static let maximumProblems = 6

  /// The first frame sizes, and the number of the others if there are many; the manifest lists all.
  private static func text(of sizes: [RecordingManifest.Track.Size]) -> String {
    let shown = sizes.prefix(8).map { "\($0.width)x\($0.height)" }.joined(separator: " ")
    return sizes.count > 8 ? "\(shown) and \(sizes.count - 8) more sizes" : shown
  }

  /// How the first frames are shown, if they are not upright, and the number of changes.
  private static func text(of orientations: [RecordingManifest.Track.Orientation]) -> String {
    guard let first = orientations.first,
      let orientation = VideoOrientation(rotation: first.rotation, isMirrored: first.mirrored)
    else { return "" }
    let changes = orientations.count - 1
    return " \(orientation)" + (changes > 0 ? " and \(changes) more orientation\(changes == 1 ? "" : "s")" : "")
  }

  /// The duration at a track's end that was not written, and why.
  private func unwritten(_ track: RecordingManifest.Track) -> String {
    track.unwritten > 0 ? "; \(seconds(track.unwritten)) s were not written: \(unwrittenReason)" : ""
  }

  /// For how long the recording was paused within the track, and after it.
  private func paused(_ track: RecordingManifest.Track) -> String {
    track.gapTotals[MediaGap.Reason.paused.rawValue].map { ", paused for \(seconds($0.duration)) s" } ?? ""
  }

  private func losses(_ track: RecordingManifest.Track) -> String {
    let errors = track.decodeErrors.map { "\($0) decode errors" } ?? "not verified"
    let unverified = track.unverified.map { $0 > 0 ? ", \($0) not verified" : "" } ?? ""
    let repaired = track.repairedByRedundancy.map { $0 > 0 ? " (\($0) repaired by redundancy)" : "" } ?? ""
    return "\(track.lost) lost\(repaired), \(track.recovered) recovered, \(errors)\(unverified)"
  }

  private func seconds(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}
