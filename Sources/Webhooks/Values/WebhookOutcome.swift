internal import Media

/// What became of a try.
package enum WebhookOutcome: Sendable, Hashable {
  /// The receiver answered with a 2xx.
  case delivered(status: Int)
  /// The receiver answered with 410: it wants nothing more of this kind.
  case gone
  case failed(WebhookFailure)
}

/// Why a try failed.
package struct WebhookFailure: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The receiver answered with another status than a 2xx.
    case status
    /// There was no answer in time.
    case timeout
    /// The name has no address, or none that may be used.
    case address
    /// The connection failed, or the answer was none.
    case connection
    /// The secret or the message cannot be used.
    case unusable
    /// The service ends.
    case cancelled
  }

  package var kind: Kind
  /// The status of the answer, if there was one.
  package var status: Int?
  /// One sentence.
  package var sentence: String

  package init(_ kind: Kind, status: Int? = nil, _ sentence: String) {
    self.kind = kind
    self.status = status
    self.sentence = sentence
  }
}

extension WebhookOutcome {
  /// How many bytes of an answer are shown.
  private static let shownBytes = 200

  /// - Parameters:
  ///   - status: of the answer.
  ///   - body: the beginning of it.
  package init(status: Int, body: [UInt8]) {
    switch status {
    case 200..<300: self = .delivered(status: status)
    case 410: self = .gone
    case 300..<400:
      self = .failed(
        .init(.status, status: status, "The receiver answered with \(status); redirects are not followed."))
    default:
      // What somebody else wrote is shortened before it is a string of any length.
      let text = String(decoding: body.prefix(4 * Self.shownBytes), as: UTF8.self).printable(utf8Bytes: Self.shownBytes)
      let shown = text.isEmpty ? "." : ": \(text)"
      self = .failed(.init(.status, status: status, "The receiver answered with \(status)\(shown)"))
    }
  }
}
