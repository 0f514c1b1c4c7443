internal import Glibc
package import MediaMessages

/// Which recording is copied into which file.
package struct RemuxOptions: Sendable, Hashable {
  package var input: String
  package var output: String
  package var format: ContainerFormat
  /// How the sound is encoded; nil to copy it.
  package var sound: TrackCodec?
  package var overwrites: Bool

  /// The containers into which recordings are copied.
  package static let formats: [ContainerFormat] = [.mp4, .mov, .mkv, .webm, .wav]

  /// - Parameters:
  ///   - output: its ending says the container.
  ///   - sound: the value of `--audio`: `copy`, `aac` or `opus`.
  package init(input: String, output: String, sound: String?, overwrites: Bool) throws(ComposerFailure) {
    let name = output.split(separator: "/").last ?? ""
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let ending = parts.count > 1 ? String(parts.last ?? "") : ""
    guard let format = ContainerFormat(ending: ending), Self.formats.contains(format) else {
      let endings = Self.formats.map { ".\($0.ending)" }.joined(separator: ", ")
      throw .usage("“\(output)” must end with one of \(endings), which says what is written.")
    }
    self.input = input
    self.output = output
    self.format = format
    self.overwrites = overwrites
    switch sound ?? "copy" {
    case "copy": self.sound = nil
    case let name:
      guard let codec = SoundEncoderSettings.codecs.first(where: { $0.name == name }) else {
        throw .usage("--audio is “copy”, “aac” or “opus”, not “\(name)”.")
      }
      guard format.codecs.contains(codec) else {
        throw .usage("A .\(ending) file does not hold \(codec.title).")
      }
      self.sound = codec
    }
    // Samples as they are.
    if self.sound == nil, let only = format.onlyCodec { self.sound = only }
  }
}

extension RemuxOptions {
  /// What compose takes for the file: the manifest beside it, `alice.json` of `alice.mkv` and of `alice.0002.mkv`, or else the folder.
  var recording: String {
    let parts = input.split(separator: "/", omittingEmptySubsequences: false)
    let name = (parts.last ?? "").split(separator: ".", omittingEmptySubsequences: false)
    let folder = parts.dropLast().joined(separator: "/")
    let before = parts.count > 1 ? folder + "/" : ""
    for length in stride(from: name.count - 1, to: 0, by: -1) {
      let manifest = before + name.prefix(length).joined(separator: ".") + ".json"
      if access(manifest, R_OK) == 0 { return manifest }
    }
    return before.isEmpty ? "." : before
  }
}

extension ContainerFormat {
  /// The one codec of a container that holds nothing else.
  var onlyCodec: TrackCodec? { codecs.count == 1 ? codecs.first : nil }

  /// Whether parameter sets are stated once, at the start of the file, for all of its video.
  var statesParameterSetsOnce: Bool {
    switch self {
    case .mp4, .mov, .m4a: true
    case .webm, .mkv, .ogg, .wav: false
    }
  }
}
