/// `a=setup`: who begins the DTLS handshake (RFC 4145, 4; RFC 8842, 5.2).
package enum SetupRole: String, Sendable, Hashable {
  /// The writer begins.
  case active
  /// The other side begins.
  case passive
  /// Whichever the answer chooses; in offers only.
  case either = "actpass"
  /// Nobody, for now.
  case hold = "holdconn"
}
