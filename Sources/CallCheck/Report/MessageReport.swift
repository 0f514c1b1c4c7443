/// A chat message of the call: context for a reader of the report.
public struct MessageReport: Sendable, Hashable, Codable {
  /// When it was sent or arrived, in seconds.
  public var time: Double
  /// The id of the participant who sent it.
  public var from: String
  /// The sender's name; nil if the signalling knows none.
  public var name: String?
  /// The text, cut after 500 characters.
  public var text: String

  /// The maximum number of messages in the report of one peer.
  package static let maximumCount = 200
  static let maximumCharacters = 500

  package init(time: Double, from: String, name: String? = nil, text: String) {
    self.time = roundedForReport(time)
    self.from = from
    self.name = name
    self.text = text.count > Self.maximumCharacters ? text.prefix(Self.maximumCharacters) + "\u{2026}" : text
  }
}
