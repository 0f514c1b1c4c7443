package import Composition
internal import FileSource
package import MediaMessages

/// The chapters of an output: pure.
package enum OutputChapters {
  /// Returns chapters with their ends, in milliseconds. Those that begin in one millisecond are one.
  ///
  /// - Parameters:
  ///   - chapters: in the order of their starts.
  ///   - duration: of the composition, in units of `MediaTimebase.rate`.
  package static func all(of chapters: [PlannedChapter], duration: Int64) -> [ContainerSettings.Chapter] {
    let unit = Int64(MediaTimebase.rate) / 1_000
    let starts = chapters.map { max(0, $0.start) / unit }
    let ends = Array(starts.dropFirst()) + [duration / unit]
    var made: [ContainerSettings.Chapter] = []
    var waiting: [String] = []
    for (chapter, (start, end)) in zip(chapters, zip(starts, ends)) {
      waiting.append(chapter.title)
      guard end > start else { continue }
      made.append(ContainerSettings.Chapter(start: start, end: end, title: waiting.joined(separator: ", ")))
      waiting = []
    }
    return made
  }
}
