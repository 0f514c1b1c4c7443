internal import FoundationEssentials
internal import Media

extension SessionSummary {
  /// The summary as the JSON text of its file.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      // The names of users are in it.
      return String(decoding: try encoder.encode(self), as: UTF8.self).escapingInvisibleInJSON + "\n"
    }
  }
}
