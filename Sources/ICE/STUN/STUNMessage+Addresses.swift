import NIOCore

extension STUNMessage {
  /// XOR-MAPPED-ADDRESS (RFC 8489, 14.2): the source address of the request as the receiver saw it.
  package var xorMappedAddress: TransportAddress? {
    get { first(.xorMappedAddress).flatMap { Self.address(in: $0.value) }.map(masked) }
    set { set(.xorMappedAddress, newValue.map { Self.value(of: masked($0)) }) }
  }

  /// MAPPED-ADDRESS (RFC 8489, 14.1): the same without XOR, as servers of RFC 3489 write it.
  package var mappedAddress: TransportAddress? {
    get { first(.mappedAddress).flatMap { Self.address(in: $0.value) } }
    set { set(.mappedAddress, newValue.map { Self.value(of: $0) }) }
  }

  /// Returns the address XORed with the magic cookie and the transaction id; a second call reverses the first.
  private func masked(_ address: TransportAddress) -> TransportAddress {
    let port = address.port ^ UInt16(truncatingIfNeeded: Self.magicCookie >> 16)
    switch address.ip {
    case .v4(let value):
      return TransportAddress(ip: .v4(value ^ Self.magicCookie), port: port)
    case .v6(let high, let low):
      let mask = UInt64(Self.magicCookie) << 32 | UInt64(transactionID.high)
      return TransportAddress(ip: .v6(high: high ^ mask, low: low ^ transactionID.low), port: port)
    }
  }

  private static func address(in value: ByteBuffer) -> TransportAddress? {
    var value = value
    guard let (_, family, port) = value.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else { return nil }
    switch (IPAddress.Family(rawValue: family), value.readableBytes) {
    case (.v4, 4), (.v6, 16):
      return IPAddress(bytes: value.readableBytesView).map { TransportAddress(ip: $0, port: port) }
    default:
      return nil
    }
  }

  private static func value(of address: TransportAddress) -> ByteBuffer {
    var value = ByteBuffer()
    value.writeMultipleIntegers(0 as UInt8, address.family.rawValue, address.port)
    address.ip.write(into: &value)
    return value
  }
}
