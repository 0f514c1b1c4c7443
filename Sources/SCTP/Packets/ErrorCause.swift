import Bitstream
package import NIOCore

/// An error cause of an ABORT or ERROR chunk (RFC 9260, 3.3.10).
package struct ErrorCause: Sendable, Hashable, CustomStringConvertible {
  package struct Code: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    package static let invalidStream = Code(rawValue: 1)
    package static let missingParameter = Code(rawValue: 2)
    package static let staleCookie = Code(rawValue: 3)
    package static let outOfResource = Code(rawValue: 4)
    package static let unrecognizedChunk = Code(rawValue: 6)
    package static let invalidParameter = Code(rawValue: 7)
    package static let unrecognizedParameters = Code(rawValue: 8)
    package static let noUserData = Code(rawValue: 9)
    package static let cookieWhileShuttingDown = Code(rawValue: 10)
    package static let userInitiatedAbort = Code(rawValue: 12)
    package static let protocolViolation = Code(rawValue: 13)
  }

  package var code: Code
  package var value: ByteBuffer

  package init(_ code: Code, _ value: ByteBuffer = ByteBuffer()) {
    self.code = code
    self.value = value
  }

  /// A cause with a text for people, of which the first 128 bytes are sent.
  package init(_ code: Code, text: String) {
    self.init(code, ByteBuffer(bytes: text.utf8.prefix(128)))
  }

  static func invalidStream(_ stream: UInt16) -> ErrorCause {
    var value = ByteBuffer()
    value.writeMultipleIntegers(stream, UInt16(0))
    return ErrorCause(.invalidStream, value)
  }

  static func noUserData(tsn: UInt32) -> ErrorCause {
    ErrorCause(.noUserData, ByteBuffer(integer: tsn))
  }

  /// The chunk is returned up to its first 64 bytes, so that an answer is never larger than what it answers.
  static func unrecognizedChunk(type: UInt8, flags: UInt8, body: ByteBuffer) -> ErrorCause {
    var value = ByteBuffer()
    value.writeMultipleIntegers(type, flags, UInt16(clamping: body.readableBytes + 4))
    value.writeBytes(body.readableBytesView.prefix(60))
    return ErrorCause(.unrecognizedChunk, value)
  }

  static func list(in bytes: ByteBuffer, of part: String) throws(ParseError) -> [ErrorCause] {
    try SCTPParameter.list(in: bytes, of: part).map { ErrorCause(Code(rawValue: $0.kind.rawValue), $0.value) }
  }

  static func write(_ causes: [ErrorCause], into buffer: inout ByteBuffer) {
    for cause in causes { buffer.writeParameter(cause.code.rawValue) { $0.writeImmutableBuffer(cause.value) } }
  }

  package var description: String {
    switch code {
    case .invalidStream: "invalid stream"
    case .missingParameter: "missing mandatory parameter"
    case .staleCookie: "stale cookie"
    case .outOfResource: "out of resource"
    case .unrecognizedChunk: "unrecognized chunk type"
    case .invalidParameter: "invalid mandatory parameter"
    case .unrecognizedParameters: "unrecognized parameters"
    case .noUserData: "no user data"
    case .cookieWhileShuttingDown: "cookie received while shutting down"
    case .userInitiatedAbort: "user-initiated abort" + text
    case .protocolViolation: "protocol violation" + text
    default: "error cause \(code.rawValue)"
    }
  }

  /// The peer's text, as far as it can be printed on a line.
  private var text: String {
    let printable = value.readableBytesView.prefix(128).filter { (0x20...0x7E).contains($0) }
    return printable.isEmpty ? "" : ": " + String(decoding: printable, as: UTF8.self)
  }
}
