import FoundationEssentials
package import Media

/// A chat message for the logs of a recording.
package struct ChatEntry: Sendable, Hashable {
  package enum Direction: Sendable, Hashable {
    case received
    case sent
  }

  /// The time on the recording's axis, in seconds.
  package var time: Double
  /// The wall clock, in seconds since 1970-01-01 00:00 UTC.
  package var secondsSince1970: Double
  /// The id of the participant who sent the message.
  package var sender: String
  package var senderName: String?
  /// The text, at most 16 KiB; a longer one is cut and ends with an ellipsis.
  package let text: UntrustedText
  package var direction: Direction

  package init(
    time: Double, secondsSince1970: Double, sender: String, senderName: String? = nil, text: UntrustedText,
    direction: Direction
  ) {
    self.time = time
    self.secondsSince1970 = secondsSince1970
    self.sender = sender.prefix(utf8Bytes: DataMessageLimits.maximumLoggedNameBytes)
    self.senderName = senderName?.prefix(utf8Bytes: DataMessageLimits.maximumLoggedNameBytes)
    self.text = Self.shortened(text)
    self.direction = direction
  }

  /// Returns a text as it is logged: at most 16 KiB.
  package static func shortened(_ text: UntrustedText) -> UntrustedText {
    let limit = DataMessageLimits.maximumLoggedTextBytes
    if text.utf8.count <= limit { return text }
    return UntrustedText(text.string.prefix(utf8Bytes: limit - "…".utf8.count) + "…")
  }

  /// What a message costs that waits to be written.
  package static func cost(of text: UntrustedText, sender: String, name: String?) -> Int {
    text.utf8.count + sender.utf8.count + (name?.utf8.count ?? 0) + 128
  }

  /// One line of a `.chat.jsonl` file, with its line feed: `{"time":1.5,"date":"…","from":"…","name":"…","text":"…"}`.
  /// The name is left out if it is not known. Invisible characters are escaped. The date is ISO 8601 in UTC with milliseconds.
  package var jsonLine: String {
    // Formatting cuts the milliseconds.
    let rounded = (secondsSince1970 * 1_000).rounded() / 1_000 + 0.000_1
    let date = Date(timeIntervalSince1970: rounded.isFinite ? rounded : 0)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    let seconds = JSONText.number((time * 1_000).rounded() / 1_000)
    let line =
      #"{"time":\#(seconds),"date":"\#(date)","from":\#(JSONText.quoted(sender))"#
      + (senderName.map { #","name":\#(JSONText.quoted($0))"# } ?? "")
      + #","text":\#(JSONText.quoted(text))}"#
    return line.escapingInvisibleInJSON + "\n"
  }
}
