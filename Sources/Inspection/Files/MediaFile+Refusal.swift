import FileSource
import Media

extension MediaFile.ReadError {
  /// The reason, to follow "cannot be inspected: ", without a full stop.
  var refusal: String {
    func names(_ kinds: MediaKind...) -> [String] { kinds.flatMap { Codec.all(of: $0).map(\.properties.name) } }
    switch self {
    case .unsupportedCodec(let kind, let name):
      let known = names(kind)
      let list = [known.dropLast().joined(separator: ", "), known.last ?? ""].filter { !$0.isEmpty }
      return "its \(kind.rawValue) is \(RecordedName.shown(name)), and only \(list.joined(separator: " and ")) "
        + "\(known.count == 1 ? "is" : "are") inspected"
    case .unsupportedFormat(let name?):
      let codecs = names(.video, .audio).joined(separator: ", ")
      return "it is \(name), and only WebM and Matroska (\(codecs)), IVF and Ogg are inspected"
    case .noMedia: return "no frame of its tracks can be read"
    default: return description
    }
  }
}
