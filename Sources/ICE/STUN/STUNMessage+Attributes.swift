package import NIOCore

/// Typed accessors of the attributes that the agent uses. Each setter replaces the attribute or appends it.
///
/// Getters ignore everything after MESSAGE-INTEGRITY but FINGERPRINT, because it is not protected (RFC 8489, 14.5).
extension STUNMessage {
  /// USERNAME (RFC 8489, 14.3): in a connectivity check `receiver's fragment:sender's fragment` (RFC 8445, 7.2.2).
  package var username: String? {
    get { text(of: .username) }
    set { set(.username, newValue.map { ByteBuffer(string: $0) }) }
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

  /// The attributes before MESSAGE-INTEGRITY, or all if there is none.
  private var protectedAttributes: ArraySlice<STUNAttribute> {
    attributes.prefix { $0.type != .messageIntegrity }
  }

  private func text(of type: STUNAttributeType) -> String? {
    first(type).map { String(buffer: $0.value) }
  }

  private func integer<Value: FixedWidthInteger>(of type: STUNAttributeType) -> Value? {
    guard let value = first(type)?.value, value.readableBytes == Value.bitWidth / 8 else { return nil }
    return value.getInteger(at: value.readerIndex)
  }
}
