import Bitstream
package import NIOCore

/// A parameter of a chunk: type, length, value (RFC 9260, 3.2.1).
package struct SCTPParameter: Sendable, Hashable {
  package struct Kind: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    static let heartbeatInformation = Kind(rawValue: 1)
    static let ipv4Address = Kind(rawValue: 5)
    static let ipv6Address = Kind(rawValue: 6)
    static let stateCookie = Kind(rawValue: 7)
    static let unrecognized = Kind(rawValue: 8)
    static let cookiePreservative = Kind(rawValue: 9)
    static let hostName = Kind(rawValue: 11)
    static let supportedAddressTypes = Kind(rawValue: 12)
    /// RFC 5061, 4.2.7: the types of the chunks that the sender supports beyond RFC 9260.
    static let supportedExtensions = Kind(rawValue: 0x8008)
    /// RFC 3758, 3.1.
    static let forwardTSNSupported = Kind(rawValue: 0xC000)
  }

  package var kind: Kind
  package var value: ByteBuffer

  package init(_ kind: Kind, _ value: ByteBuffer = ByteBuffer()) {
    self.kind = kind
    self.value = value
  }

  /// The maximum number of parameters or error causes in a chunk; a browser's INIT has fewer than ten.
  static let maximumCount = 64

  /// Reads the parameters, or error causes, that fill the rest of a chunk.
  static func list(in bytes: ByteBuffer, of part: String) throws(ParseError) -> [SCTPParameter] {
    var rest = bytes
    var parameters: [SCTPParameter] = []
    // Up to three bytes can only be padding that the chunk's length counts by mistake.
    while rest.readableBytes >= 4 {
      guard parameters.count < maximumCount else {
        throw .wrongValue("The number of parameters", expected: "at most \(maximumCount)", found: parameters.count + 1)
      }
      let found = rest.readableBytes
      guard let (type, length) = rest.readMultipleIntegers(as: (UInt16, UInt16).self) else { break }
      guard length >= 4 else {
        throw .wrongValue("The length of a parameter", expected: "at least 4", found: Int(length))
      }
      guard let value = rest.readSlice(length: Int(length) - 4) else {
        throw .tooShort("A parameter of \(part)", needs: Int(length), found: found)
      }
      parameters.append(SCTPParameter(Kind(rawValue: type), value))
      rest.skipPadding(after: Int(length))
    }
    return parameters
  }

  static func heartbeatInformation(in body: ByteBuffer) throws(ParseError) -> ByteBuffer {
    guard let first = try list(in: body, of: "A HEARTBEAT chunk").first else {
      throw .tooShort("A HEARTBEAT chunk", needs: 8, found: 4 + body.readableBytes)
    }
    guard first.kind == .heartbeatInformation else {
      throw .wrongValue("The parameter of a HEARTBEAT chunk", expected: "of type 1", found: Int(first.kind.rawValue))
    }
    return first.value
  }

  func write(into buffer: inout ByteBuffer) {
    buffer.writeParameter(kind.rawValue) { $0.writeImmutableBuffer(value) }
  }
}
