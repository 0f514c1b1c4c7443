package import NIOCore

/// The part of a multicast DNS message (RFC 6762, 18) that address queries need: the address records of a response.
package struct MDNSMessage: Sendable, Hashable {
  /// An A or AAAA record.
  package struct AddressRecord: Sendable, Hashable {
    /// The lowercase name in ASCII without the final dot. A dot or backslash within a label follows a backslash (RFC 1035, 5.1).
    package var name: String
    package var address: IPAddress
    /// In seconds; 0 withdraws the record (RFC 6762, 10.1).
    package var timeToLive: UInt32

    package init(name: String, address: IPAddress, timeToLive: UInt32) {
      self.name = name
      self.address = address
      self.timeToLive = timeToLive
    }
  }

  /// A record type that a query can ask for; the raw value is the TYPE (RFC 1035, 3.2.2; RFC 3596, 2.1).
  package enum RecordType: UInt16, Sendable, Hashable, CaseIterable {
    case a = 1
    case aaaa = 28
  }

  /// The records of the answer and the additional section, in wire order.
  package var addressRecords: [AddressRecord]

  /// The port of multicast DNS (RFC 6762, 3).
  package static let port: UInt16 = 5_353
  /// `224.0.0.251:5353`.
  package static let groupV4 = TransportAddress(ip: .v4(0xE000_00FB), port: port)
  /// `[ff02::fb]:5353`.
  package static let groupV6 = TransportAddress(ip: .v6(high: 0xFF02_0000_0000_0000, low: 0xFB), port: port)

  /// More than the response of a browser has; further records of a message are not read.
  static let maximumRecords = 64
  /// A response has no questions (RFC 6762, 6), but a unicast one for a one-shot query repeats them (RFC 6762, 6.7).
  static let maximumQuestions = 64
  static let headerLength = 12
  static let classInternet: UInt16 = 1
  /// The top bit of a question's class asks for a unicast response (RFC 6762, 5.4); the top bit of a record's class is
  /// the cache-flush bit (RFC 6762, 10.2).
  static let topBit: UInt16 = 0x8000
}

// MARK: Writing

extension MDNSMessage {
  /// Returns a query with one question.
  ///
  /// Chromium answers only messages with exactly one question of class IN without the top bit. It and Firefox send
  /// their responses to the multicast group, whichever port a query came from.
  ///
  /// - Parameters:
  ///   - id: 0 for a query from port 5353 (RFC 6762, 18.1); random for a one-shot query from another port.
  ///   - wantsUnicastResponse: whether the top bit of the class is set (RFC 6762, 5.4).
  package static func query(
    for name: MDNSName, type: RecordType, id: UInt16 = 0, wantsUnicastResponse: Bool = false
  ) -> ByteBuffer {
    var buffer = ByteBuffer()
    let noFlags: UInt16 = 0
    let questions: UInt16 = 1
    let noRecords: UInt16 = 0
    buffer.writeMultipleIntegers(id, noFlags, questions, noRecords, noRecords, noRecords)
    name.write(into: &buffer)
    buffer.writeMultipleIntegers(type.rawValue, classInternet | (wantsUnicastResponse ? topBit : 0))
    return buffer
  }
}

// MARK: Reading

extension MDNSMessage {
  /// An error in a received datagram.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case headerTooShort(arrived: Int)
    case notResponse(flags: UInt16)
    case tooManyQuestions(count: Int, limit: Int)
    case badName(offset: Int)
    case recordTooLong(needed: Int, left: Int)
    case wrongAddressLength(type: UInt16, length: Int)

    package var description: String {
      switch self {
      case .headerTooShort(let arrived):
        "A DNS header needs 12 bytes, but only \(arrived) arrived."
      case .notResponse(let flags):
        "A multicast DNS response has the flags 8000 and no error code, but this message has \(String(flags, radix: 16))."
      case .tooManyQuestions(let count, let limit):
        "A DNS response may have at most \(limit) questions, but this one has \(count)."
      case .badName(let offset):
        "The DNS name at byte \(offset) is cut off, too long, or has a compression pointer that is not allowed."
      case .recordTooLong(let needed, let left):
        "A DNS question or record needs \(needed) bytes, but only \(left) are left."
      case .wrongAddressLength(let type, let length):
        "A DNS record of type \(type) has no address of \(length) bytes."
      }
    }
  }

  /// Parses the address records of a response.
  ///
  /// Questions, records of the authority section, of another type or of another class are skipped. At most 64 records
  /// are read, and at most 128 labels of each name. The id is ignored: multicast responses have 0 (RFC 6762, 18.1).
  package init(parsingResponse datagram: ByteBuffer) throws(ParseError) {
    let bytes = datagram.readableBytesView
    guard
      let (_, flags, questions, answers, authorities, additionals) = datagram.getMultipleIntegers(
        at: datagram.readerIndex, as: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16).self)
    else { throw .headerTooShort(arrived: bytes.count) }
    // QR must be 1; opcode and RCODE must be 0 (RFC 6762, 18.2, 18.3 and 18.11).
    guard flags & 0xF80F == 0x8000 else { throw .notResponse(flags: flags) }
    guard Int(questions) <= Self.maximumQuestions else {
      throw .tooManyQuestions(count: Int(questions), limit: Self.maximumQuestions)
    }
    addressRecords = []
    var reader = DNSReader(datagram, offset: Self.headerLength)
    for _ in 0..<questions {
      try reader.skipName()
      try reader.skip(4)
    }
    let answersEnd = Int(answers)
    let additionalsStart = answersEnd + Int(authorities)
    let count = additionalsStart + Int(additionals)
    for index in 0..<min(count, Self.maximumRecords) {
      let record = try Self.addressRecord(from: &reader)
      if let record, index < answersEnd || index >= additionalsStart { addressRecords.append(record) }
    }
  }

  /// Reads one record; nil when it is of another type or class, or its name is not ASCII.
  static func addressRecord(from reader: inout DNSReader) throws(ParseError) -> AddressRecord? {
    let nameOffset = reader.offset
    try reader.skipName()
    let (type, recordClass, timeToLive, length) = try reader.recordFields()
    let start = reader.offset
    try reader.skip(Int(length))
    guard let type = RecordType(rawValue: type), recordClass & ~topBit == classInternet else { return nil }
    guard let address = IPAddress(bytes: reader.bytes(start..<reader.offset)),
      address.family == (type == .a ? .v4 : .v6)
    else { throw .wrongAddressLength(type: type.rawValue, length: Int(length)) }
    guard let name = try reader.name(at: nameOffset) else { return nil }
    return AddressRecord(name: name, address: address, timeToLive: timeToLive)
  }
}
