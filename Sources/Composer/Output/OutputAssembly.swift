internal import Composition
internal import FileSource
internal import MediaMessages
internal import MediaWorker

/// Makes the output of the parts, the sound, the chapters and the chat.
enum OutputAssembly {
  /// Writes the output, which appears under its name when it is complete.
  ///
  /// - Parameters:
  ///   - parts: have the video; the output has another name in their folder until then.
  ///   - count: the parts, from 0.
  ///   - videoTrack: nil without video.
  ///   - progress: called with the time that was reached, in units of `MediaTimebase.rate`, each second of it.
  /// - Returns: what mixing did; nil without sound.
  static func write(
    plan: CompositionPlan, options: CompositionOptions, output: String, parts: PartsFolder, count: Int,
    videoTrack: ContainerSettings.Track?, scan: SoundScan, progress: (Int64) -> Void
  ) throws(ComposerFailure) -> SoundMixReport? {
    guard let format = ContainerFormat(ending: options.format.container.rawValue) else {
      throw .usage("A .\(options.format.container.rawValue) file is not written.")
    }
    do {
      var sources: [any PacketSource] = []
      if let videoTrack { sources.append(PartsVideo(parts, count: count, videoTrack)) }
      var mixer: SoundMixer?
      if plan.hasAudio {
        let made = SoundMixer(plan, gains: options.isLevelled ? scan.users.map(\.gain) : []) {
          MediaWorker(.foreground, hasTime: true)
        }
        mixer = made
        guard let codec = TrackCodec(name: options.format.audio.rawValue),
          let settings = SoundEncoderSettings(codec: codec)
        else { throw ComposerFailure.usage("\(options.format.audio.rawValue) is not encoded.") }
        sources.append(try ComposedSound(settings) { made.next($0) })
      }
      if options.hasChat, !plan.messages.isEmpty, format.codecs.contains(where: { $0.kind == .text }) {
        sources.append(ComposedChat(plan.subtitles))
      }
      guard !sources.isEmpty else { throw ComposerFailure.input("There is neither video nor sound to compose.") }
      let file = try OutputFile(output, temporary: parts.unfinishedOutput, overwrites: options.isForced)
      let settings = ContainerSettings(
        format: format, tracks: sources.map(\.track),
        chapters: options.hasChapters ? OutputChapters.all(of: plan.chapters, duration: plan.duration) : [])
      let writer = try ContainerWriter(descriptor: file.descriptor, settings)
      try writer.write(sources) { progress(Int64($0 * Double(MediaTimebase.rate))) }
      if let failure = mixer?.failure { throw failure }
      try file.complete()
      return mixer?.report
    } catch {
      throw OutputFile.failure(error, writing: output)
    }
  }
}
