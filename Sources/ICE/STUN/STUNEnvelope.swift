package import NIOCore

/// What can be read on the outside of a STUN datagram: enough to hand it to the right peer, at the price of a few loads.
///
/// Many peers share one socket. A request is for the peer whose user fragment comes first in USERNAME; a response is
/// for the one who sent a request with this transaction id. Nothing here is verified.
package struct STUNEnvelope: Sendable, Hashable {
  package let kind: STUNMessage.Kind
  package let method: STUNMessage.Method
  package let transactionID: STUNTransactionID
  /// The first half of USERNAME: the receiver's own user fragment. Nil when there is none, or it cannot be one.
  package let recipient: String?

  /// Reads a datagram's header and looks for USERNAME; nil when the datagram is not a STUN message.
  package init?(_ datagram: ByteBuffer) {
    guard let header = try? STUNMessage.Header(parsing: datagram) else { return nil }
    kind = header.kind
    method = header.method
    transactionID = header.transactionID
    recipient = header.kind == .request ? Self.recipient(in: datagram) : nil
  }

  private static func recipient(in datagram: ByteBuffer) -> String? {
    var index = datagram.readerIndex + STUNMessage.headerLength
    for _ in 0..<STUNMessage.maximumAttributes {
      guard let (type, length) = datagram.getMultipleIntegers(at: index, as: (UInt16, UInt16).self) else { return nil }
      index += 4
      if type == STUNAttributeType.messageIntegrity.rawValue { return nil }
      if type == STUNAttributeType.username.rawValue {
        // A user fragment has at most 256 characters (RFC 8839, 5.4); the colon may come right behind them.
        guard let value = datagram.getSlice(at: index, length: Int(length))?.readableBytesView.prefix(257),
          let colon = value.firstIndex(of: UInt8(ascii: ":")), colon > value.startIndex,
          value[..<colon].allSatisfy(ICECredentials.isICECharacter)
        else { return nil }
        return String(decoding: value[..<colon], as: UTF8.self)
      }
      index += STUNAttribute.padded(Int(length))
    }
    return nil
  }
}
