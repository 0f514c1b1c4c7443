package import NIOCore

/// A STUN message (RFC 8489, 5). Writing a parsed message returns the same bytes.
///
/// MESSAGE-INTEGRITY and FINGERPRINT are attributes like any other; `STUNMessage+Integrity.swift` adds and verifies
/// them.
package struct STUNMessage: Sendable, Hashable {
  /// The message's class.
  package enum Kind: UInt8, Sendable, Hashable {
    case request = 0
    case indication = 1
    case success = 2
    case errorResponse = 3
  }

  /// The message's method, 12 bits.
  package struct Method: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
      self.rawValue = rawValue & 0xFFF
    }

    package static let binding = Method(rawValue: 1)
  }

  package var kind: Kind
  package var method: Method
  package var transactionID: STUNTransactionID
  /// The attributes in wire order, including unknown ones.
  package var attributes: [STUNAttribute]

  package init(
    _ kind: Kind, method: Method = .binding, transactionID: STUNTransactionID, attributes: [STUNAttribute] = []
  ) {
    self.kind = kind
    self.method = method
    self.transactionID = transactionID
    self.attributes = attributes
  }

  /// The 32 bits after type and length of every message.
  static let magicCookie: UInt32 = 0x2112_A442
  static let headerLength = 20
  /// More than any expected message has; a datagram with more is rejected before it is parsed further.
  static let maximumAttributes = 64
}

// MARK: Reading

extension STUNMessage {
  /// An error in a STUN datagram.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case headerTooShort(arrived: Int)
    case notSTUN(firstByte: UInt8)
    case wrongCookie(UInt32)
    case wrongLength(declared: Int, arrived: Int)
    case attributeTooLong(type: UInt16, needed: Int, left: Int)
    case tooManyAttributes(limit: Int)

    package var description: String {
      switch self {
      case .headerTooShort(let arrived):
        "A STUN header needs 20 bytes, but only \(arrived) arrived."
      case .notSTUN(let firstByte):
        "A STUN message starts with two zero bits, but the first byte is \(firstByte)."
      case .wrongCookie(let cookie):
        "A STUN message has the magic cookie 2112a442, but this one has \(String(cookie, radix: 16))."
      case .wrongLength(let declared, let arrived):
        "The STUN header announces \(declared) bytes of attributes, but \(arrived) arrived."
      case .attributeTooLong(let type, let needed, let left):
        "STUN attribute \(String(type, radix: 16)) needs \(needed) bytes, but only \(left) are left."
      case .tooManyAttributes(let limit):
        "A STUN message may have at most \(limit) attributes, but this one has more."
      }
    }
  }

  /// Parses a whole datagram; the values share its storage.
  package init(parsing datagram: ByteBuffer) throws(ParseError) {
    let header = try Header(parsing: datagram)
    self.init(header.kind, method: header.method, transactionID: header.transactionID)
    var index = datagram.readerIndex + Self.headerLength
    let end = datagram.writerIndex
    while index < end {
      // The length in the header is a multiple of four, so four bytes are always available.
      guard let (type, length) = datagram.getMultipleIntegers(at: index, as: (UInt16, UInt16).self) else { break }
      index += 4
      let padded = STUNAttribute.padded(Int(length))
      guard padded <= end - index, let value = datagram.getSlice(at: index, length: Int(length)) else {
        throw .attributeTooLong(type: type, needed: padded, left: end - index)
      }
      guard attributes.count < Self.maximumAttributes else { throw .tooManyAttributes(limit: Self.maximumAttributes) }
      let padding = datagram.getSlice(at: index + Int(length), length: padded - Int(length))
      let isPlain = padding?.readableBytesView.allSatisfy { $0 == 0 } ?? true
      attributes.append(
        STUNAttribute(STUNAttributeType(rawValue: type), value: value, padding: isPlain ? nil : padding))
      index += padded
    }
  }

  /// The fixed first 20 bytes, checked against the size of the datagram.
  struct Header {
    var kind: Kind
    var method: Method
    var transactionID: STUNTransactionID

    init(parsing datagram: ByteBuffer) throws(ParseError) {
      let start = datagram.readerIndex
      guard
        let (type, length, cookie, high, low) = datagram.getMultipleIntegers(
          at: start, as: (UInt16, UInt16, UInt32, UInt32, UInt64).self)
      else { throw .headerTooShort(arrived: datagram.readableBytes) }
      guard type & 0xC000 == 0 else { throw .notSTUN(firstByte: UInt8(truncatingIfNeeded: type >> 8)) }
      guard cookie == STUNMessage.magicCookie else { throw .wrongCookie(cookie) }
      let arrived = datagram.readableBytes - STUNMessage.headerLength
      guard Int(length) == arrived, length % 4 == 0 else {
        throw .wrongLength(declared: Int(length), arrived: arrived)
      }
      kind = Kind(rawValue: UInt8(truncatingIfNeeded: (type >> 7 & 2) | (type >> 4 & 1))) ?? .request
      method = Method(rawValue: (type & 0xF) | (type >> 1 & 0x70) | (type >> 2 & 0xF80))
      transactionID = STUNTransactionID(high: high, low: low)
    }
  }
}

// MARK: Writing

extension STUNMessage {
  /// Writes the message with its present attributes.
  package func write(into buffer: inout ByteBuffer) {
    write(attributes[...], extraLength: 0, into: &buffer)
  }

  /// Writes the header and some of the attributes, with a length that counts `extraLength` more bytes.
  ///
  /// MESSAGE-INTEGRITY and FINGERPRINT are computed over a header whose length already includes them (RFC 8489, 14.5
  /// and 14.7).
  func write(_ attributes: ArraySlice<STUNAttribute>, extraLength: Int, into buffer: inout ByteBuffer) {
    let length = attributes.reduce(extraLength) { $0 + $1.wireLength }
    let class0 = UInt16(kind.rawValue & 1) << 4
    let class1 = UInt16(kind.rawValue & 2) << 7
    let bits = method.rawValue
    let type = class0 | class1 | (bits & 0xF) | (bits & 0x70) << 1 | (bits & 0xF80) << 2
    buffer.reserveCapacity(minimumWritableBytes: Self.headerLength + length)
    buffer.writeMultipleIntegers(
      type, UInt16(truncatingIfNeeded: length), Self.magicCookie, transactionID.high, transactionID.low)
    for attribute in attributes { attribute.write(into: &buffer) }
  }
}

/// The 96 bits that match a STUN response to its request (RFC 8489, 5).
package struct STUNTransactionID: Sendable, Hashable, CustomStringConvertible {
  package var high: UInt32
  package var low: UInt64

  package init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Returns a random transaction id.
  package static func random(using generator: inout some RandomNumberGenerator) -> STUNTransactionID {
    STUNTransactionID(
      high: .random(in: .min ... .max, using: &generator), low: .random(in: .min ... .max, using: &generator))
  }

  /// 24 hexadecimal digits.
  package var description: String {
    func digits(_ value: some FixedWidthInteger) -> String {
      let text = String(value, radix: 16)
      return String(repeating: "0", count: value.bitWidth / 4 - text.count) + text
    }
    return digits(high) + digits(low)
  }
}
