package import Composition
internal import FileSource
internal import Media

extension CompositionOutcome {
  /// What went wrong while the file was made, a sentence each.
  package func problems(of plan: CompositionPlan) -> [String] {
    var sentences = problems
    for (tile, happened) in zip(plan.tiles, tiles) {
      for problem in happened.problems where !sentences.contains(problem) { sentences.append(problem) }
      let video = "\(tile.label)\(tile.stream == 1 ? "" : ", stream \(tile.stream)")"
      if happened.undecodedFrames > 0 {
        let count = Self.count(happened.undecodedFrames, "frame")
        sentences.append("\(count) of \(video) could not be decoded; the frame before is shown in their place.")
      }
      if happened.crashes > 0 {
        let count = Self.count(happened.crashes, "time")
        sentences.append("The process that decodes the video of \(video) ended \(count).")
      }
    }
    for problem in mix?.problems ?? [] where !sentences.contains(problem) { sentences.append(problem) }
    for (user, packets) in zip(plan.users, mix?.undecodedPackets ?? []) where packets > 0 {
      sentences.append("\(Self.count(packets, "packet")) of the audio of \(user.label) could not be decoded.")
    }
    return sentences
  }

  /// The report of `--report`.
  package func report(of job: CompositionJob) -> CompositionReport {
    let losses = tiles.enumerated().flatMap { index, tile in
      tile.losses.map {
        CompositionReport.Loss(tile: index, start: $0.start, end: $0.end, cause: $0.cause)
      }
    }
    var report = CompositionReport(job.plan, job.options, scan: scan, mix: mix, losses: losses)
    let known = Set(report.problems.map { UntrustedText($0) })
    report.problems += problems(of: job.plan).filter { !known.contains(UntrustedText($0)) }
    return report
  }

  /// The line for people, for example `meeting.mp4: 1:00:00.000, 4 users, in 0:25:00.000 (2.4x as fast as the call)`.
  package func text(of job: CompositionJob, after elapsed: Duration) -> String {
    let milliseconds = Int64(min(elapsed / .milliseconds(1), 1e12))
    let users = Self.count(job.plan.users.count, "user")
    let took = ShownTime.text(milliseconds * Int64(MediaTimebase.rate / 1_000))
    let kept = resumedParts > 0 ? ", \(resumedParts) of \(Self.count(parts, "part")) kept from before" : ""
    return "\(job.options.output): \(ShownTime.text(job.plan.duration)), \(users), composed in \(took)\(kept)"
  }

  private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
