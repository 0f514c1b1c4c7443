import FileSource
import Media

extension MediaFile.ReadError {
  /// The reason, to follow "cannot be inspected: ", without a full stop.
  var refusal: String {
    func names(_ kinds: MediaKind...) -> [String] { kinds.flatMap { Codec.all(of: $0).map(\.properties.name) } }
    switch self {
    case .unsupportedCodec(let kind, let name):
      let known = names(kind)
      return "its \(kind.rawValue) is \(RecordedName.shown(name)), and only \(known.joined(separator: " and ")) "
        + "\(known.count == 1 ? "is" : "are") inspected"
    case .unsupportedFormat(let name?):
      let (all, video, audio) = (names(.video, .audio), names(.video), names(.audio))
      let formats = [("WebM", all), ("IVF", video), ("Ogg", audio)].map { format, codecs in
        "\(format) (\(codecs.joined(separator: ", ")))"
      }
      return "it is \(name), and only \(formats[0]), \(formats[1]) and \(formats[2]) are inspected"
    case .noMedia: return "no frame of its tracks can be read"
    default: return description
    }
  }
}
