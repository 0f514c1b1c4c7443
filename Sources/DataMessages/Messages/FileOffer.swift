package import Media

/// A file that a participant offers: `{"type":"__file","signal":"ask",…}`.
package struct FileOffer: Sendable, Hashable {
  /// The name as announced. It is not safe to use as the name of a file: see ``FileName``.
  package var name: UntrustedText
  /// The size in bytes.
  package var size: Int64
  /// The id that the sender chose for the transfer, in ASCII.
  package var sendID: String
  /// Whether the sender can send the bytes as binary messages on a data channel of their own.
  package var isBinary: Bool

  package init(name: UntrustedText, size: Int64, sendID: String, isBinary: Bool = false) {
    self.name = name
    self.size = size
    self.sendID = sendID
    self.isBinary = isBinary
  }

  /// Returns a new random `sendId`: digits and capitals with a hyphen, as the page makes it.
  package static func randomSendID() -> String {
    var generator = SystemRandomNumberGenerator()
    return randomSendID(using: &generator)
  }

  /// Does the same with a given source of random numbers.
  package static func randomSendID(using generator: inout some RandomNumberGenerator) -> String {
    let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    func part(_ length: Int) -> String {
      String(
        decoding: (0..<length).map { _ in digits[Int.random(in: 0..<digits.count, using: &generator)] }, as: UTF8.self)
    }
    return part(8) + "-" + part(12)
  }
}

/// A piece of a file's data URL: `{"type":"__file","signal":"chunk",…}`.
package struct FileChunk: Sendable, Hashable {
  package var sendID: String
  /// The next characters of the data URL.
  package var data: UntrustedText
  /// Whether this is the last chunk.
  package var isLast: Bool
  /// The progress as the sender reports it, 0 to 100. The last chunk has none.
  package var percent: Double?

  package init(sendID: String, data: UntrustedText, isLast: Bool, percent: Double? = nil) {
    self.sendID = sendID
    self.data = data
    self.isLast = isLast
    self.percent = percent
  }
}
