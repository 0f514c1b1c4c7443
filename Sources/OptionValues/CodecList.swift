package import Media

/// The value of `--video-codecs` and `--audio-codecs`: names of codecs of one kind, separated by commas.
package enum CodecList {
  /// Returns the names of all codecs of a kind, in the usual order.
  package static func all(of kind: MediaKind) -> String { Codec.all(of: kind).map(\.rawValue).joined(separator: ",") }

  package static func parse(_ text: String, of kind: MediaKind) throws(ParseError) -> [Codec] {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
    var codecs: [Codec] = []
    for name in names {
      guard let codec = Codec(rawValue: name), codec.kind == kind else {
        throw ParseError(name: name.printable(utf8Bytes: 40), kind: kind)
      }
      if !codecs.contains(codec) { codecs.append(codec) }
    }
    return codecs
  }

  /// A name that is no codec of the kind.
  package struct ParseError: Error, Hashable, CustomStringConvertible {
    package let name: String
    package let kind: MediaKind

    package var description: String {
      "“\(name)” is not a supported \(kind.rawValue) codec; these are: \(CodecList.all(of: kind))."
    }
  }
}
