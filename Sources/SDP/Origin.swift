/// The `o=` line: who made the description, in which version (RFC 8866, 5.2).
package struct Origin: Sendable, Hashable {
  package var user: String
  package var sessionID: String
  package var version: String
  /// Network type, address type and address, for example `IN IP4 127.0.0.1`.
  package var address: String

  package init(user: String = "-", sessionID: String, version: String, address: String = "IN IP4 127.0.0.1") {
    self.user = user
    self.sessionID = sessionID
    self.version = version
    self.address = address
  }

  package init?(parsing text: String) {
    let fields = text.fields(maximum: 4)
    guard fields.count == 4 else { return nil }
    self.init(user: fields[0], sessionID: fields[1], version: fields[2], address: fields[3])
  }

  package var text: String { "\(user) \(sessionID) \(version) \(address)" }
}
