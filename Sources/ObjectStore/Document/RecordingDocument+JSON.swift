internal import FoundationEssentials
internal import JSON
internal import Media

extension RecordingDocument {
  /// The most bytes that are read.
  package static let maximumBytes = 64 << 20

  /// The document as the JSON text of its object. The same document always has the same text.
  package var json: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      // Names and ids of users are in it.
      let text = String(decoding: try encoder.encode(self), as: UTF8.self).escapingInvisibleInJSON
      return Array((text + "\n").utf8)
    }
  }

  /// Parses the text of a document; nil if it is none, or one of a later version.
  package init?(parsing json: [UInt8]) {
    let limits = JSONLimits(bytes: Self.maximumBytes, values: 5_000_000, depth: 8, nameRunOutsideASCII: 256)
    guard let document = try? JSONReader.decode(RecordingDocument.self, from: Data(json), within: limits),
      document.version == Self.currentVersion
    else { return nil }
    self = document
  }
}
