internal import Composition
internal import FileSource
internal import MediaMessages
internal import MediaWorker

/// Makes the output of the parts, the sound, the chapters and the chat.
struct OutputAssembly {
  var format: ContainerFormat
  /// Nil without video.
  var video: CompositionEncoderSettings?
  /// Nil without sound.
  var sound: SoundEncoderSettings?
  var chapters: [PlannedChapter] = []
  /// Where the last chapter ends, in units of `MediaTimebase.rate`.
  var duration: Int64
  var messages: [PlannedMessage] = []
  var title = ""

  /// Writes the output, which appears under its name when it is complete.
  ///
  /// - Parameters:
  ///   - parts: have the video; the output has another name in their folder until then.
  ///   - count: the parts, from 0.
  ///   - samples: returns the next samples of the sound, interleaved; none at the end.
  ///   - progress: called with the time that was reached, in seconds; what it throws ends the writing.
  func write(
    to path: String, parts: PartFolder, count: Int, overwrites: Bool, samples: @escaping (Int) throws -> [Float],
    progress: (Double) throws -> Void = { _ in }
  ) throws {
    do {
      var sources: [any PacketSource] = []
      if let video { sources.append(try PartsVideo(parts, count: count, video)) }
      if let sound { sources.append(try ComposedSound(sound, samples: samples)) }
      if !messages.isEmpty, format.codecs.contains(where: { $0.kind == .text }) {
        sources.append(ComposedChat(messages))
      }
      let file = try OutputFile(path, temporary: parts.path + "/output", overwrites: overwrites)
      let settings = ContainerSettings(
        format: format, tracks: sources.map(\.track), chapters: chaptersWithEnds, title: title)
      let writer = try ContainerWriter(descriptor: file.descriptor, settings)
      try writer.write(sources, progress: progress)
      try file.complete()
    } catch let error as MediaWorkerError {
      throw OutputFailure(error, writing: path)
    }
  }

  private var chaptersWithEnds: [ContainerSettings.Chapter] {
    let unit = Int64(MediaTimebase.rate) / 1_000
    let starts = chapters.map { max(0, $0.start) / unit }
    let ends = Array(starts.dropFirst()) + [max(duration / unit, starts.last.map { $0 + 1 } ?? 0)]
    // Several users can join in one millisecond: the last of them names the chapter, with the others.
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
