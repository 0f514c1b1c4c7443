/// An ICE candidate, as SDP carries it (RFC 8839, 5.1).
///
/// Writing a parsed candidate returns the same text, extensions included; only an IPv6 address is written in its
/// canonical form.
package struct ICECandidate: Sendable, Hashable {
  /// The candidate's connection address: an IP address from most peers. Browsers without camera permission send
  /// `.local` names, which multicast DNS resolves on the same link.
  package enum Host: Sendable, Hashable, CustomStringConvertible {
    case address(IPAddress)
    case name(String)

    package var description: String {
      switch self {
      case .address(let address): address.description
      case .name(let name): name
      }
    }
  }

  /// The base of a reflexive candidate or the mapped address of a relayed one; for diagnostics only, and often blanked
  /// out.
  package struct Related: Sendable, Hashable {
    package var address: String
    package var port: UInt16

    package init(address: String, port: UInt16) {
      self.address = address
      self.port = port
    }
  }

  /// A name and a value after the known fields, for example `generation 0`.
  package struct Extension: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// 1 to 32 characters; equal for candidates of the same type, base and server (RFC 8445, 5.1.1.3).
  package var foundation: String
  /// 1 to 256; 1 for RTP and everything that is multiplexed with it.
  package var component: UInt16
  /// `udp` or `tcp`, in the case that was received.
  package var transport: String
  package var priority: UInt32
  package var host: Host
  package var port: UInt16
  package var type: ICECandidateType
  package var related: Related?
  package var extensions: [Extension]

  package init(
    foundation: String, component: UInt16 = 1, transport: String = "udp", priority: UInt32, host: Host, port: UInt16,
    type: ICECandidateType, related: Related? = nil, extensions: [Extension] = []
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.host = host
    self.port = port
    self.type = type
    self.related = related
    self.extensions = extensions
  }

  /// The candidate without its related address, which is one of this machine or that of a NAT in front of it (RFC 8839,
  /// 5.1).
  package var withoutRelatedAddress: ICECandidate {
    guard let related else { return self }
    var hidden = self
    hidden.related = Related(address: related.address.contains(":") ? "::" : "0.0.0.0", port: 9)
    return hidden
  }

  /// The address to send to, or nil when the candidate has a name.
  package var address: TransportAddress? {
    switch host {
    case .address(let ip): TransportAddress(ip: ip, port: port, transport: isTCP ? .tcp : .udp)
    case .name: nil
    }
  }

  package var isUDP: Bool { transport.lowercased() == "udp" }

  package var isTCP: Bool { transport.lowercased() == "tcp" }

  /// How the connection of a TCP candidate comes about; nil if that is unknown (RFC 6544, 4.5).
  package var tcpType: TCPCandidateType? {
    guard isTCP else { return nil }
    return extensions.first { $0.name == "tcptype" }.flatMap { TCPCandidateType(rawValue: $0.value) }
  }

  /// The username fragment of the candidate's session, if the candidate has one, as those of browsers do.
  package var usernameFragment: String? { extensions.first { $0.name == "ufrag" }?.value }

  /// The value of the SDP candidate attribute and of a browser's `RTCIceCandidate.candidate`, for example `candidate:1
  /// 1 udp 2122260223 10.0.0.1 5000 typ host`.
  package var attributeValue: String {
    var text = "candidate:\(foundation) \(component) \(transport) \(priority) \(host) \(port) typ \(type.rawValue)"
    if let related { text += " raddr \(related.address) rport \(related.port)" }
    for item in extensions { text += " \(item.name) \(item.value)" }
    return text
  }
}

/// The type of a candidate (RFC 8445, 4); the raw value is its name in SDP.
package enum ICECandidateType: String, Sendable, Hashable, CaseIterable {
  /// An address of the machine itself.
  case host
  /// The host address as a STUN server sees it.
  case serverReflexive = "srflx"
  /// The host address as the remote peer sees it.
  case peerReflexive = "prflx"
  /// An address of a TURN server.
  case relayed = "relay"

  /// The type preference, 0 to 126: for UDP the recommended one (RFC 8445, 5.1.2.2); for TCP that of libwebrtc, which
  /// prefers every UDP path between the peers, and TCP to a relay (RFC 6544, 4.2).
  package func preference(of transport: TransportProtocol) -> UInt32 {
    switch self {
    case .host: transport == .udp ? 126 : 90
    case .peerReflexive: transport == .udp ? 110 : 80
    case .serverReflexive: transport == .udp ? 100 : 70
    case .relayed: 0
    }
  }

  /// Returns the priority of a candidate of component 1 (RFC 8445, 5.1.2.1).
  package func priority(localPreference: UInt16, transport: TransportProtocol = .udp) -> UInt32 {
    preference(of: transport) << 24 | UInt32(localPreference) << 8 | 255
  }
}
