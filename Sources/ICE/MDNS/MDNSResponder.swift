package import Media
package import NIOCore

/// Answers queries for the names of this program's own addresses (RFC 6762, 6).
///
/// The socket is the same as that of `MDNSResolver`. Responses go to the group of the family of the query, for which the
/// caller has a responder for each family. Each has the address record, and the
/// record that says that there is no other one (NSEC; RFC 6762, 6.1): Chromium waits for the answer of the other family
/// until its timeout. The names are random, so they are neither probed for nor announced.
///
/// Limits: two responses for each name in a second, one to each type of question; what is asked in between is answered
/// at the end of the second (RFC 6762, 6). A query for another name has no effect.
package struct MDNSResponder: Sendable {
  private struct Key: Sendable, Hashable {
    let name: MDNSName
    let type: MDNSMessage.RecordType
  }

  private let names: HostNames
  /// The responses to send, by their times.
  private var pending: [Key: MonotonicInstant] = [:]
  private var lastSent: [Key: MonotonicInstant] = [:]

  private static let interval = Duration.seconds(1)
  /// The recommended time to live of a record with a host name (RFC 6762, 10).
  package static let timeToLive: UInt32 = 120

  package init(names: HostNames) {
    self.names = names
  }

  /// The time of the next `poll`, or nil when nothing is to be sent.
  package var deadline: MonotonicInstant? { pending.values.min() }

  /// Processes a datagram that arrived at the socket. Anything but a query for a name of ours is ignored, and so is a query
  /// that contains the answer with at least half of its time to live (RFC 6762, 7.1).
  package mutating func received(_ datagram: ByteBuffer, now: MonotonicInstant) {
    guard let query = MDNSQuery(parsing: datagram) else { return }
    for question in query.questions {
      guard let address = names.address(of: question.name) else { continue }
      let own = MDNSMessage.RecordType(of: address)
      let type = question.type ?? own
      let isKnown = query.knownAnswers.contains {
        $0.name == question.name.description && $0.address == address && $0.timeToLive >= Self.timeToLive / 2
      }
      if type == own, isKnown { continue }
      let key = Key(name: question.name, type: type)
      let due = lastSent[key].map { max($0 + Self.interval, now) } ?? now
      pending[key] = min(pending[key] ?? due, due)
    }
  }

  /// Returns the responses that are due; each is sent to the group on each interface.
  package mutating func poll(now: MonotonicInstant) -> [ByteBuffer] {
    guard let deadline, deadline <= now else { return [] }
    var responses: [ByteBuffer] = []
    for (key, due) in pending where due <= now {
      pending[key] = nil
      lastSent[key] = now
      guard let address = names.address(of: key.name) else { continue }
      responses.append(MDNSMessage.response(name: key.name, address: address, asked: key.type))
    }
    return responses
  }

  /// Returns the messages that withdraw the records that were sent (RFC 6762, 10.1). The responder is of no use afterwards.
  package mutating func withdraw() -> [ByteBuffer] {
    defer { (pending, lastSent) = ([:], [:]) }
    return Set(lastSent.keys.map(\.name)).compactMap { name in
      names.address(of: name).map { MDNSMessage.response(name: name, address: $0, timeToLive: 0) }
    }
  }
}

extension MDNSMessage.RecordType {
  /// The type of a record with this address.
  init(of address: IPAddress) {
    self = address.family == .v4 ? .a : .aaaa
  }
}

extension MDNSMessage {
  /// Returns a response that tells the only address of a name: the record that was asked for, and the other one as an
  /// additional record. A response with a time to live of 0 has only the address.
  ///
  /// - Parameters:
  ///   - asked: the type of the question. If the name has no record of it, the answer is the record that says so (NSEC), and the
  ///     address is the additional one. With nil, the address is the answer.
  ///   - timeToLive: in seconds, for both records.
  package static func response(
    name: MDNSName, address: IPAddress, asked: RecordType? = nil, timeToLive: UInt32 = MDNSResponder.timeToLive
  ) -> ByteBuffer {
    let own = RecordType(of: address)
    var buffer = ByteBuffer()
    let none: UInt16 = 0
    // The flags of a response: QR and AA (RFC 6762, 18.2 and 18.4).
    buffer.writeMultipleIntegers(none, 0x8400 as UInt16, none, 1 as UInt16, none, (timeToLive == 0 ? 0 : 1) as UInt16)
    let isNegative = asked.map { $0 != own } ?? false
    for writesAddress in [!isNegative, isNegative] {
      if timeToLive == 0, !writesAddress { continue }
      name.write(into: &buffer)
      if writesAddress {
        buffer.writeMultipleIntegers(
          own.rawValue, classInternet | topBit, timeToLive, UInt16(truncatingIfNeeded: address.bytes.count))
        address.write(into: &buffer)
      } else {
        // The next name is the same (a pointer to the first one, after the header), and a bit map of the types that exist
        // follows (RFC 4034, 4.1).
        let bitMap: [UInt8] = own == .a ? [0x40] : [0, 0, 0, 0x08]
        buffer.writeMultipleIntegers(
          negativeType, classInternet | topBit, timeToLive, UInt16(truncatingIfNeeded: 4 + bitMap.count))
        buffer.writeMultipleIntegers(
          0xC000 | UInt16(truncatingIfNeeded: headerLength), 0 as UInt8, UInt8(truncatingIfNeeded: bitMap.count))
        buffer.writeBytes(bitMap)
      }
    }
    return buffer
  }

  /// NSEC (RFC 4034, 4).
  private static let negativeType: UInt16 = 47
}
