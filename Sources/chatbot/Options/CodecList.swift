import ArgumentParser
import Media

/// The value of `--video-codecs` and `--audio-codecs`: names of codecs of one kind, separated by commas.
enum CodecList {
  /// Returns the names of all codecs of a kind, in the usual order.
  static func all(of kind: MediaKind) -> String { Codec.all(of: kind).map(\.rawValue).joined(separator: ",") }

  static func parse(_ text: String, of kind: MediaKind) throws -> [Codec] {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
    var codecs: [Codec] = []
    for name in names {
      guard let codec = Codec(rawValue: name), codec.kind == kind else {
        throw ValidationError(
          "“\(name.printable(utf8Bytes: 40))” is not a supported \(kind.rawValue) codec; these are: \(all(of: kind)).")
      }
      if !codecs.contains(codec) { codecs.append(codec) }
    }
    return codecs
  }
}
