package import NIOCore

extension STUNMessage.Method {
  // RFC 8656, 17.
  package static let allocate = STUNMessage.Method(rawValue: 3)
  package static let refresh = STUNMessage.Method(rawValue: 4)
  package static let send = STUNMessage.Method(rawValue: 6)
  package static let data = STUNMessage.Method(rawValue: 7)
  package static let createPermission = STUNMessage.Method(rawValue: 8)
  package static let channelBind = STUNMessage.Method(rawValue: 9)
}

extension STUNAttributeType {
  /// Whether a TURN client understands the type.
  var isUnderstoodByTURN: Bool { isUnderstood || Self.understoodByTURN.contains(self) }

  private static let understoodByTURN: Set<STUNAttributeType> = [
    .channelNumber, .lifetime, .xorPeerAddress, .data, .xorRelayedAddress, .requestedAddressFamily, .evenPort,
    .requestedTransport, .dontFragment, .reservationToken,
  ]
}

/// Typed accessors of the attributes that a TURN client uses. Each setter replaces the attribute or appends it.
extension STUNMessage {
  /// REALM (RFC 8489, 14.9).
  package var realm: String? {
    get { text(of: .realm) }
    set { set(.realm, newValue.map { ByteBuffer(string: $0) }) }
  }

  /// NONCE (RFC 8489, 14.10), as bytes, because it must be returned unchanged.
  package var nonce: ByteBuffer? {
    get { first(.nonce)?.value }
    set { set(.nonce, newValue) }
  }

  /// ALTERNATE-SERVER (RFC 8489, 14.15), without XOR.
  package var alternateServer: TransportAddress? {
    get { first(.alternateServer).flatMap { Self.address(in: $0.value) } }
    set { set(.alternateServer, newValue.map { Self.value(of: $0) }) }
  }

  /// PASSWORD-ALGORITHMS (RFC 8489, 14.11): the numbers of the algorithms, at most 16. Empty if the attribute is
  /// missing or malformed.
  package var passwordAlgorithms: [UInt16] {
    guard var value = first(.passwordAlgorithms)?.value else { return [] }
    var numbers: [UInt16] = []
    while value.readableBytes > 0, numbers.count < 16 {
      guard let (number, length) = value.readMultipleIntegers(as: (UInt16, UInt16).self) else { return [] }
      // The padding of the last parameters may be missing.
      guard Int(length) <= value.readableBytes else { return [] }
      value.moveReaderIndex(forwardBy: min(STUNAttribute.padded(Int(length)), value.readableBytes))
      numbers.append(number)
    }
    return numbers
  }

  /// PASSWORD-ALGORITHM (RFC 8489, 14.12): the number of the algorithm, which has no parameters.
  package var passwordAlgorithm: UInt16? {
    get { first(.passwordAlgorithm).flatMap { $0.value.getInteger(at: $0.value.readerIndex) } }
    set {
      set(
        .passwordAlgorithm,
        newValue.map { number in
          var value = ByteBuffer()
          value.writeMultipleIntegers(number, 0 as UInt16)
          return value
        })
    }
  }

  /// LIFETIME in seconds (RFC 8656, 18.2).
  package var lifetime: UInt32? {
    get { integer(of: .lifetime) }
    set { set(.lifetime, newValue.map { ByteBuffer(integer: $0) }) }
  }

  /// CHANNEL-NUMBER (RFC 8656, 18.1).
  package var channelNumber: UInt16? {
    get {
      let value: UInt32? = integer(of: .channelNumber)
      return value.map { UInt16(truncatingIfNeeded: $0 >> 16) }
    }
    set { set(.channelNumber, newValue.map { ByteBuffer(integer: UInt32($0) << 16) }) }
  }

  /// DATA (RFC 8656, 18.4): the payload of one datagram.
  package var data: ByteBuffer? {
    get { first(.data)?.value }
    set { set(.data, newValue) }
  }

  /// REQUESTED-TRANSPORT (RFC 8656, 18.7): an IP protocol number; 17 is UDP.
  package var requestedTransport: UInt8? {
    get {
      let value: UInt32? = integer(of: .requestedTransport)
      return value.map { UInt8(truncatingIfNeeded: $0 >> 24) }
    }
    set { set(.requestedTransport, newValue.map { ByteBuffer(integer: UInt32($0) << 24) }) }
  }

  /// REQUESTED-ADDRESS-FAMILY (RFC 8656, 18.6).
  package var requestedAddressFamily: IPAddress.Family? {
    get { family(of: .requestedAddressFamily) }
    set { set(.requestedAddressFamily, newValue.map { ByteBuffer(integer: UInt32($0.rawValue) << 24) }) }
  }

  /// ADDITIONAL-ADDRESS-FAMILY (RFC 8656, 18.11): only IPv6 is valid.
  package var additionalAddressFamily: IPAddress.Family? {
    get { family(of: .additionalAddressFamily) }
    set { set(.additionalAddressFamily, newValue.map { ByteBuffer(integer: UInt32($0.rawValue) << 24) }) }
  }

  /// ADDRESS-ERROR-CODE (RFC 8656, 18.12): the family that the server did not allocate, and why.
  package var addressErrorCode: (family: IPAddress.Family, error: STUNErrorCode)? {
    guard var value = first(.addressErrorCode)?.value, let number = value.readInteger(as: UInt8.self),
      let family = IPAddress.Family(rawValue: number), let rest = value.readSlice(length: value.readableBytes)
    else { return nil }
    var code = ByteBuffer(integer: 0 as UInt8)
    code.writeImmutableBuffer(rest)
    return STUNErrorCode(parsing: code).map { (family, $0) }
  }

  /// The first XOR-PEER-ADDRESS (RFC 8656, 18.3).
  package var xorPeerAddress: TransportAddress? {
    first(.xorPeerAddress).flatMap { Self.address(in: $0.value) }.map(masked)
  }

  /// All XOR-PEER-ADDRESS attributes that are valid.
  package var xorPeerAddresses: [TransportAddress] { addresses(.xorPeerAddress) }

  /// All XOR-RELAYED-ADDRESS attributes that are valid (RFC 8656, 18.5): one or, with two families, two.
  package var xorRelayedAddresses: [TransportAddress] { addresses(.xorRelayedAddress) }

  /// Appends an XOR-PEER-ADDRESS; CreatePermission may have several.
  package mutating func appendXorPeerAddress(_ address: TransportAddress) {
    attributes.append(STUNAttribute(.xorPeerAddress, value: Self.value(of: masked(address))))
  }

  package mutating func appendXorRelayedAddress(_ address: TransportAddress) {
    attributes.append(STUNAttribute(.xorRelayedAddress, value: Self.value(of: masked(address))))
  }

  private func addresses(_ type: STUNAttributeType) -> [TransportAddress] {
    protectedAttributes.filter { $0.type == type }.compactMap { Self.address(in: $0.value) }.map(masked)
  }

  private func family(of type: STUNAttributeType) -> IPAddress.Family? {
    let value: UInt32? = integer(of: type)
    return value.flatMap { IPAddress.Family(rawValue: UInt8(truncatingIfNeeded: $0 >> 24)) }
  }
}
