/// Which end of a WebSocket we are: a client masks what it sends, a server must not (RFC 6455, 5.1).
package enum WebSocketSide: Sendable, Hashable {
  case client
  case server
}
