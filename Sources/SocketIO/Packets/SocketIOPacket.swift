package import JSON
internal import Media

/// A packet of Socket.IO in the text of an Engine.IO message, for example `2["login","{…}"]`.
///
/// Source: the Socket.IO protocol, revisions 4 and 5, "Packet encoding":
/// `<type>[<number of attachments>-][<namespace>,][<acknowledgment id>][JSON]`.
package struct SocketIOPacket: Sendable, Hashable {
  package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    case connect = 0
    case disconnect
    case event
    case acknowledgment
    /// The server refuses the namespace; an error of any kind before revision 5.
    case error
  }

  package var kind: Kind
  /// `/` is the root namespace, the only one that the call signalling uses.
  package var namespace: String
  package var acknowledgmentID: UInt64?
  package var data: JSONValue?

  package init(
    _ kind: Kind, namespace: String = "/", acknowledgmentID: UInt64? = nil, data: JSONValue? = nil
  ) {
    self.kind = kind
    self.namespace = namespace
    self.acknowledgmentID = acknowledgmentID
    self.data = data
  }

  /// An event with one argument.
  package static func event(_ name: String, _ argument: JSONValue) -> SocketIOPacket {
    SocketIOPacket(.event, data: .array([.string(UntrustedText(name)), argument]))
  }

  /// Parses a packet.
  package init(parsing text: String) throws(SocketIOParseError) {
    var rest = text.utf8[...]
    guard let digit = rest.popFirst() else { throw .emptyPacket }
    if digit == UInt8(ascii: "5") || digit == UInt8(ascii: "6") { throw .binaryPacket }
    guard let kind = Kind(rawValue: digit &- UInt8(ascii: "0")) else { throw .unknownPacketType(digit) }
    self.init(kind)
    if rest.first == UInt8(ascii: "/") {
      let name = rest.prefix { $0 != UInt8(ascii: ",") }
      guard name.count <= 256, name.allSatisfy({ $0 < 0x80 }) else { throw .invalidJSON(bytes: text.utf8.count) }
      // A namespace may have a query, which names the same namespace.
      namespace = String(decoding: name.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
      rest = rest[name.endIndex...].dropFirst()
    }
    if kind == .event || kind == .acknowledgment {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      if !digits.isEmpty {
        guard let id = UInt64(String(decoding: digits, as: UTF8.self)) else {
          throw .invalidJSON(bytes: text.utf8.count)
        }
        acknowledgmentID = id
        rest = rest[digits.endIndex...]
      }
    }
    if !rest.isEmpty { data = try JSONValue(parsing: String(decoding: rest, as: UTF8.self)) }
  }

  /// The name and the arguments of an event.
  package func event() throws(SocketIOParseError) -> (name: String, arguments: [JSONValue]) {
    guard case .array(let values) = data, case .string(let text)? = values.first, text.utf8.count <= 256 else {
      throw .noEventName
    }
    guard let name = text.ascii else { throw .unknownEvent(text.description) }
    return (name, Array(values.dropFirst()))
  }

  /// The packet as it is sent.
  package var encoded: String {
    var text = "\(kind.rawValue)"
    if namespace != "/" { text += namespace + "," }
    if let acknowledgmentID { text += "\(acknowledgmentID)" }
    if let data { text += data.text }
    return text
  }
}
