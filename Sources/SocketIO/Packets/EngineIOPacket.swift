/// A packet of Engine.IO: one digit for its type, then its text. A WebSocket message carries one packet; the body of a
/// long-polling request several (``EngineIOPayload``).
///
/// Source: the Engine.IO protocol, revisions 3 and 4, "Packet encoding". Binary packets are left out on purpose:
/// no message of the call signalling is binary.
package struct EngineIOPacket: Sendable, Hashable {
  package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// The first packet of the server, with the parameters of the connection: ``EngineIOHandshake``.
    case open = 0
    case close
    /// Sent by the client in revision 3, by the server in revision 4. Answered by a `pong` with the same text.
    case ping
    case pong
    /// A packet of Socket.IO: ``SocketIOPacket``.
    case message
    case upgrade
    case noop
  }

  package var kind: Kind
  package var text: String

  package init(_ kind: Kind, _ text: String = "") {
    self.kind = kind
    self.text = text
  }

  /// Parses a packet.
  package init(parsing text: String) throws(SocketIOParseError) {
    guard let digit = text.utf8.first else { throw .emptyPacket }
    guard let kind = Kind(rawValue: digit &- UInt8(ascii: "0")) else {
      throw .unknownPacketType(digit)
    }
    self.init(kind, String(text.unicodeScalars.dropFirst()))
  }

  /// The packet as it is sent.
  package var encoded: String { "\(kind.rawValue)\(text)" }
}
