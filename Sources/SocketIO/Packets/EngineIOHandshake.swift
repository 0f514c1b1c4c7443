internal import JSON
internal import Media

/// The parameters of an Engine.IO connection: the text of the server's first packet.
///
/// Source: the Engine.IO protocol, "Handshake". The intervals are limited to 1 s to 120 s, so that no server makes the
/// client ping all the time, or wait for ever.
package struct EngineIOHandshake: Sendable, Hashable {
  /// Names the connection in the requests of long polling.
  package var sessionID: String
  package var pingInterval: Duration
  package var pingTimeout: Duration
  /// Whether the server states the maximum size of a payload, which only revision 4 does.
  package var hasMaximumPayload: Bool

  package static let intervals: ClosedRange<Duration> = .seconds(1) ... .seconds(120)

  package init(parsing text: String) throws(SocketIOParseError) {
    let value: JSONValue
    do { value = try JSONValue(parsing: text) } catch { throw .invalidHandshake }
    guard let sessionID = value["sid"]?.lenientText?.string, (1...256).contains(sessionID.utf8.count),
      sessionID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw .invalidHandshake }
    self.sessionID = sessionID
    pingInterval = Self.interval(value["pingInterval"], otherwise: .seconds(25))
    pingTimeout = Self.interval(value["pingTimeout"], otherwise: .seconds(20))
    hasMaximumPayload = value["maxPayload"] != nil
  }

  /// Reads milliseconds, as a number or a string.
  private static func interval(_ value: JSONValue?, otherwise absent: Duration) -> Duration {
    let milliseconds: Double?
    switch value {
    case .number(let number): milliseconds = number
    case .string(let text): milliseconds = text.ascii.flatMap { Double($0) }
    default: milliseconds = nil
    }
    guard let milliseconds, milliseconds.isFinite else { return absent }
    let bounded = min(max(milliseconds, 1_000), 120_000)
    return .milliseconds(Int64(bounded))
  }
}
