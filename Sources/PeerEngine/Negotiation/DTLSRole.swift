/// Which side of the DTLS handshake a peer is: `client` sends the ClientHello (`a=setup:active`).
package enum DTLSRole: String, Sendable, Hashable {
  case client
  case server
}
