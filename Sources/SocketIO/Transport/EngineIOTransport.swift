/// A connection that carries packets of Engine.IO as texts: a WebSocket, or long polling.
package protocol EngineIOTransport: Sendable {
  /// The received packets, in order, until the connection ends. For one reader.
  var packets: AsyncStream<String> { get }
  /// The revision of the server, if the transport shows it.
  var generation: EngineIOGeneration? { get }
  /// Queues a packet. Packets of one thread are sent in the order of the calls.
  func send(_ packet: String)
  /// Sends what is queued and ends the connection.
  func close()
  /// Waits for the end of the connection and returns its reason, one sentence.
  func ended() async -> String
}
