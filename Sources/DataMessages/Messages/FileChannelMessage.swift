import Media

/// A text message of a data channel that carries one file in binary messages.
package enum FileChannelMessage: Sendable, Hashable {
  /// `{"size":N,"sha256":"hex"}`: the sender has sent all bytes.
  case end(size: Int64, sha256: String)
  /// `{"received":true,"sha256":"hex"}`: the receiver has stored the file.
  case received(sha256: String)
  /// `{"received":false,"reason":"…"}`
  case rejected(reason: String)

  private struct Wire: Decodable {
    var size: Int64?
    var sha256: UntrustedText?
    var received: Bool?
    var reason: UntrustedText?
  }

  /// Parses a message; a digest is returned in lower case.
  package init(parsing text: String) throws(DataMessageError) {
    let wire = try JSONText.decode(Wire.self, from: text, maximumBytes: DataMessageLimits.maximumFileTextBytes)
    func digest(_ message: String) throws(DataMessageError) -> String {
      guard let digest = wire.sha256?.string, digest.utf8.count == 64, digest.utf8.allSatisfy(Self.isHexadecimal) else {
        throw .unusable(message: message, field: "sha256")
      }
      return digest.lowercased()
    }
    switch wire.received {
    case true: self = .received(sha256: try digest("received"))
    case false: self = .rejected(reason: (wire.reason?.string ?? "").prefix(utf8Bytes: 200))
    case nil:
      guard let size = wire.size, (0...DataMessageLimits.maximumFileBytes).contains(size) else {
        throw .unusable(message: "end", field: "size")
      }
      self = .end(size: size, sha256: try digest("end"))
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  /// The message in JSON.
  package var text: String {
    switch self {
    case .end(let size, let sha256): #"{"size":\#(size),"sha256":\#(JSONText.quoted(sha256))}"#
    case .received(let sha256): #"{"received":true,"sha256":\#(JSONText.quoted(sha256))}"#
    case .rejected(let reason): #"{"received":false,"reason":\#(JSONText.quoted(reason))}"#
    }
  }
}
