package import NIOCore

/// The fields of a STUN datagram that select its recipient. They are read without parsing the whole message, with a few
/// loads.
///
/// Many peers share one socket. A request is for the peer whose username fragment comes first in USERNAME; a response
/// is for the peer that sent a request with this transaction id. Nothing is verified here, and nothing is allocated.
package struct STUNRouting: Sendable, Hashable {
  package let kind: STUNMessage.Kind
  package let method: STUNMessage.Method
  package let transactionID: STUNTransactionID
  /// The first half of USERNAME: the receiver's username fragment, as bytes of the datagram. Nil when it is missing or
  /// invalid.
  package let localUsernameFragment: ByteBuffer?

  /// Reads the header of a datagram and searches for USERNAME; nil when the datagram is not a STUN message.
  package init?(_ datagram: ByteBuffer) {
    guard let header = try? STUNMessage.Header(parsing: datagram) else { return nil }
    kind = header.kind
    method = header.method
    transactionID = header.transactionID
    localUsernameFragment = header.kind == .request ? Self.localUsernameFragment(in: datagram) : nil
  }

  private static func localUsernameFragment(in datagram: ByteBuffer) -> ByteBuffer? {
    var index = datagram.readerIndex + STUNMessage.headerLength
    for _ in 0..<STUNMessage.maximumAttributes {
      guard let (type, length) = datagram.getMultipleIntegers(at: index, as: (UInt16, UInt16).self) else { return nil }
      index += 4
      if type == STUNAttributeType.messageIntegrity.rawValue { return nil }
      if type == STUNAttributeType.username.rawValue {
        // A username fragment has at most 256 characters (RFC 8839, 5.4), followed by the colon.
        guard let value = datagram.getSlice(at: index, length: Int(length))?.readableBytesView.prefix(257),
          let colon = value.firstIndex(of: UInt8(ascii: ":")), colon > value.startIndex,
          value[..<colon].allSatisfy(ICECredentials.isICECharacter)
        else { return nil }
        return datagram.getSlice(at: index, length: value.distance(from: value.startIndex, to: colon))
      }
      index += STUNAttribute.padded(Int(length))
    }
    return nil
  }
}
