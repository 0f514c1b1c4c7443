package import NIOCore

/// Typed accessors of the attributes that the agent uses. Each setter replaces the attribute or appends it.
///
/// Getters ignore everything after MESSAGE-INTEGRITY or MESSAGE-INTEGRITY-SHA256, because it is not protected
/// (RFC 8489, 14.5 and 14.6).
extension STUNMessage {
  /// USERNAME (RFC 8489, 14.3): in a connectivity check `receiver's fragment:sender's fragment` (RFC 8445, 7.2.2). Do not
  /// compare one that was received: text outside ASCII can take long.
  package var username: String? {
    get { text(of: .username) }
    set { set(.username, newValue.map { ByteBuffer(string: $0) }) }
  }

  /// The sender's fragment in the USERNAME of a connectivity check; nil without one, and for one that is not ASCII.
  package var senderUsernameFragment: String? {
    guard let bytes = first(.username)?.value.readableBytesView, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes.allSatisfy({ $0 < 0x80 })
    else { return nil }
    return String(decoding: bytes[bytes.index(after: colon)...], as: UTF8.self)
  }

  /// SOFTWARE (RFC 8489, 14.14).
  package var software: String? {
    get { text(of: .software) }
    set { set(.software, newValue.map { ByteBuffer(string: $0) }) }
  }

  /// PRIORITY (RFC 8445, 7.1.1): the priority of the peer-reflexive candidate that the check may reveal.
  package var priority: UInt32? {
    get { integer(of: .priority) }
    set { set(.priority, newValue.map { ByteBuffer(integer: $0) }) }
  }

  /// USE-CANDIDATE (RFC 8445, 7.1.2): the controlling side nominates the pair.
  package var usesCandidate: Bool {
    get { first(.useCandidate) != nil }
    set { set(.useCandidate, newValue ? ByteBuffer() : nil) }
  }

  /// ICE-CONTROLLED (RFC 8445, 7.1.3): the sender is controlled and has this tie-breaker.
  package var iceControlled: UInt64? {
    get { integer(of: .iceControlled) }
    set { set(.iceControlled, newValue.map { ByteBuffer(integer: $0) }) }
  }

  /// ICE-CONTROLLING (RFC 8445, 7.1.3): the sender is controlling and has this tie-breaker.
  package var iceControlling: UInt64? {
    get { integer(of: .iceControlling) }
    set { set(.iceControlling, newValue.map { ByteBuffer(integer: $0) }) }
  }

  /// ERROR-CODE (RFC 8489, 14.8).
  package var errorCode: STUNErrorCode? {
    get { first(.errorCode).flatMap { STUNErrorCode(parsing: $0.value) } }
    set { set(.errorCode, newValue?.value) }
  }

  /// UNKNOWN-ATTRIBUTES (RFC 8489, 14.9): the attributes of a refused request that its receiver does not know.
  package var unknownAttributes: [STUNAttributeType] {
    get {
      var value = first(.unknownAttributes)?.value ?? ByteBuffer()
      var types: [STUNAttributeType] = []
      while let type = value.readInteger(as: UInt16.self) { types.append(STUNAttributeType(rawValue: type)) }
      return types
    }
    set {
      var value = ByteBuffer()
      for type in newValue { value.writeInteger(type.rawValue) }
      set(.unknownAttributes, newValue.isEmpty ? nil : value)
    }
  }

  /// The comprehension-required attributes that this module does not understand.
  package var attributesNotUnderstood: [STUNAttributeType] {
    protectedAttributes.map(\.type).filter { $0.isComprehensionRequired && !$0.isUnderstood }
  }

  /// Returns the first attribute of a type among the protected attributes.
  package func first(_ type: STUNAttributeType) -> STUNAttribute? {
    protectedAttributes.first { $0.type == type }
  }

  /// Replaces the first attribute of a type, appends it, or removes all of the type if the value is nil.
  package mutating func set(_ type: STUNAttributeType, _ value: ByteBuffer?) {
    guard let value else {
      attributes.removeAll { $0.type == type }
      return
    }
    let attribute = STUNAttribute(type, value: value)
    if let index = attributes.firstIndex(where: { $0.type == type }) {
      attributes[index] = attribute
    } else {
      attributes.append(attribute)
    }
  }

  /// The attributes before MESSAGE-INTEGRITY and MESSAGE-INTEGRITY-SHA256, or all if there is none.
  var protectedAttributes: ArraySlice<STUNAttribute> {
    attributes.prefix { $0.type != .messageIntegrity && $0.type != .messageIntegritySHA256 }
  }

  func text(of type: STUNAttributeType) -> String? {
    first(type).map { String(buffer: $0.value) }
  }

  func integer<Value: FixedWidthInteger>(of type: STUNAttributeType) -> Value? {
    guard let value = first(type)?.value, value.readableBytes == Value.bitWidth / 8 else { return nil }
    return value.getInteger(at: value.readerIndex)
  }
}

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
  func masked(_ address: TransportAddress) -> TransportAddress {
    let port = address.port ^ UInt16(truncatingIfNeeded: Self.magicCookie >> 16)
    switch address.ip {
    case .v4(let value):
      return TransportAddress(ip: .v4(value ^ Self.magicCookie), port: port)
    case .v6(let high, let low):
      let mask = UInt64(Self.magicCookie) << 32 | UInt64(transactionID.high)
      return TransportAddress(ip: .v6(high: high ^ mask, low: low ^ transactionID.low), port: port)
    }
  }

  static func address(in value: ByteBuffer) -> TransportAddress? {
    var value = value
    guard let (_, family, port) = value.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else { return nil }
    switch (IPAddress.Family(rawValue: family), value.readableBytes) {
    case (.v4, 4), (.v6, 16):
      return IPAddress(bytes: value.readableBytesView).map { TransportAddress(ip: $0, port: port) }
    default:
      return nil
    }
  }

  static func value(of address: TransportAddress) -> ByteBuffer {
    var value = ByteBuffer()
    value.writeMultipleIntegers(0 as UInt8, address.family.rawValue, address.port)
    address.ip.write(into: &value)
    return value
  }
}

/// The value of an ERROR-CODE attribute (RFC 8489, 14.8).
package struct STUNErrorCode: Sendable, Hashable, CustomStringConvertible {
  /// 300 to 699.
  package var code: Int
  package var reason: String

  package init(_ code: Int, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The request has unknown comprehension-required attributes (RFC 8489, 14.8).
  package static let unknownAttribute = STUNErrorCode(420, "Unknown Attribute")
  /// Both sides have the same role (RFC 8445, 7.3.1.1).
  package static let roleConflict = STUNErrorCode(487, "Role Conflict")

  package init?(parsing value: ByteBuffer) {
    var value = value
    guard let (_, hundreds, rest) = value.readMultipleIntegers(as: (UInt16, UInt8, UInt8).self) else { return nil }
    let family = Int(hundreds & 7)
    guard (3...6).contains(family), rest < 100 else { return nil }
    code = family * 100 + Int(rest)
    reason = String(buffer: value)
  }

  /// The encoded attribute value.
  var value: ByteBuffer {
    var value = ByteBuffer()
    let held = min(max(code, 300), 699)
    value.writeMultipleIntegers(0 as UInt16, UInt8(held / 100), UInt8(held % 100))
    value.writeString(reason)
    return value
  }

  package var description: String { "\(code) \(reason)" }
}
