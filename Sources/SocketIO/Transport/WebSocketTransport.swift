internal import HTTPTransport
import NIOCore

/// Packets of Engine.IO over a WebSocket: one packet in each text message.
struct WebSocketTransport: EngineIOTransport {
  let packets: AsyncStream<String>
  let generation: EngineIOGeneration?
  private let socket: WebSocketClient

  init(_ socket: WebSocketClient, generation: EngineIOGeneration?) {
    self.socket = socket
    self.generation = generation
    let messages = socket.messages
    packets = AsyncStream {
      for await message in messages {
        switch message {
        case .text(let text): return text
        // The call signalling has no binary packets; one that arrives counts as damaged.
        case .binary: return "b"
        }
      }
      return nil
    }
  }

  func send(_ packet: String) { socket.send(.text(packet)) }

  func close() { socket.close(code: 1000, reason: "") }

  func ended() async -> String { await socket.ended().description }
}
