internal import FileSource
internal import Media
internal import MediaMessages
internal import MediaWorker

/// Copies one recording into another container: video as it is, sound as it is or encoded again.
///
/// It reads and writes with processes of `chatbot-media`, and waits for them. Memory does not grow with the file but for the times of its
/// frames.
package struct Remux: Sendable {
  private let options: RemuxOptions

  /// What was written.
  package struct Report: Sendable, Hashable, CustomStringConvertible {
    package var path: String
    /// A clause for each track, for example `H.264, 300 frames`.
    package var tracks: [String]
    /// The end of the last packet, in units of `MediaTimebase.rate`.
    package var length: Int64
    /// What was left out, as sentences.
    package var notes: [String]

    package var description: String {
      "\(path): \(tracks.joined(separator: "; ")); \(MediaTimebase.text(max(0, length))) s"
    }
  }

  package init(_ options: RemuxOptions) { self.options = options }

  /// Writes the file. Until it is complete, it has another name.
  package func run() throws(ComposerFailure) -> Report {
    let file: OpenFile
    do throws(MediaFile.ReadError) {
      file = try OpenFile(options.input)
    } catch {
      throw .input("“\(options.input)” cannot be read: \(error).")
    }
    let description = try PacketReader.session(file, options.input).description
    let plan = try RemuxPlan(description, options)
    var sources: [any PacketSource] = []
    var tracks: [String] = []
    if let copied = plan.video {
      let video = try CopiedVideo(file, copied, options)
      sources.append(video)
      tracks.append("\(copied.codec.title), \(video.frames) frames")
    }
    switch plan.sound {
    case .copied(let copied):
      sources.append(try CopiedSound(file, copied, options))
      tracks.append(copied.codec.title)
    case .encoded(let index, let name, let codec):
      let decoded = try DecodedSound(file, track: index, path: options.input)
      if SoundEncoderSettings.codecs.contains(codec) {
        sources.append(try EncodedSound(decoded, codec, path: options.input))
      } else {
        sources.append(SampledSound(decoded, codec))
      }
      tracks.append("\(codec.title) from \(name)")
    case nil: break
    }
    let length = try write(sources)
    return Report(path: options.output, tracks: tracks, length: length, notes: plan.notes)
  }

  private func write(_ sources: [any PacketSource]) throws(ComposerFailure) -> Int64 {
    do {
      let output = try OutputFile(options.output, overwrites: options.overwrites)
      let settings = ContainerSettings(format: options.format, tracks: sources.map(\.track))
      let writer = try ContainerWriter(descriptor: output.descriptor, settings)
      let end = try writer.write(sources)
      try output.complete()
      return Int64(end * Double(MediaTimebase.rate))
    } catch {
      throw OutputFile.failure(error, writing: options.output)
    }
  }
}
