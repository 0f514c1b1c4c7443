/// The revision of the Engine.IO protocol, as in the parameter `EIO` of the URL.
package enum EngineIOGeneration: Int, Sendable, Hashable {
  /// Socket.IO 1 and 2: the server connects the root namespace unasked, and the client sends pings.
  case three = 3
  /// Socket.IO 3 and 4: the client asks for the root namespace, and the server sends pings.
  case four = 4
}
