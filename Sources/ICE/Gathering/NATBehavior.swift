import NIOCore

/// How a NAT chooses the public address of a socket (RFC 4787, 4.1).
package enum NATMapping: String, Sendable, Hashable {
  /// The mapped address is that of the socket.
  case noTranslation = "no address translation"
  case endpointIndependent = "endpoint-independent"
  case addressDependent = "address-dependent"
  case addressAndPortDependent = "address and port-dependent"
  /// One of the two, if what was compared does not show which.
  case dependent = "address-dependent or address and port-dependent"
}

/// From whom a NAT or a firewall lets datagrams in (RFC 4787, 5).
package enum NATFiltering: String, Sendable, Hashable {
  case endpointIndependent = "endpoint-independent"
  case addressDependent = "address-dependent"
  case addressAndPortDependent = "address and port-dependent"
}

/// What ``NATBehaviorProbe`` has found.
package struct NATBehavior: Sendable, Hashable {
  /// The time between the first request and its answer; nil if the server has not answered.
  package var roundTrip: Duration?
  /// The address of the first socket as the server sees it.
  package var mapped: TransportAddress?
  package var mapping: NATMapping?
  /// What was compared, or why the mapping is unknown.
  package var mappingMethod: String?
  package var filtering: NATFiltering?
  /// What was tested, or why the filtering is unknown.
  package var filteringMethod: String?
  /// Why the server gave no mapped address, as a sentence.
  package var failure: String?
}

extension STUNAttributeType {
  // RFC 3489, 11.2, which some servers still send.
  static let sourceAddress = STUNAttributeType(rawValue: 0x0004)
  static let changedAddress = STUNAttributeType(rawValue: 0x0005)
  // RFC 5780, 7.
  static let changeRequest = STUNAttributeType(rawValue: 0x0003)
  static let otherAddress = STUNAttributeType(rawValue: 0x802C)
}

extension STUNMessage {
  /// OTHER-ADDRESS (RFC 5780, 7.4), without XOR: the server's address that differs in IP and port from the one that was
  /// asked.
  package var otherAddress: TransportAddress? {
    get { first(.otherAddress).flatMap { Self.address(in: $0.value) } }
    set { set(.otherAddress, newValue.map { Self.value(of: $0) }) }
  }

  /// CHANGED-ADDRESS (RFC 3489, 11.2.3), which means the same.
  var changedAddress: TransportAddress? { first(.changedAddress).flatMap { Self.address(in: $0.value) } }

  /// CHANGE-REQUEST (RFC 5780, 7.2): from which address and port the server shall answer.
  package var changeRequest: STUNChangeRequest? {
    get {
      let flags: UInt32? = integer(of: .changeRequest)
      return flags.map { STUNChangeRequest(rawValue: $0) }
    }
    set { set(.changeRequest, newValue.map { ByteBuffer(integer: $0.rawValue) }) }
  }

  /// Whether a response has a comprehension-required attribute that is neither known nor one of RFC 3489.
  var hasUnknownAttribute: Bool {
    attributesNotUnderstood.contains { ![.sourceAddress, .changedAddress, .changeRequest].contains($0) }
  }
}

/// The flags of CHANGE-REQUEST.
package struct STUNChangeRequest: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let address = STUNChangeRequest(rawValue: 4)
  package static let port = STUNChangeRequest(rawValue: 2)
}
