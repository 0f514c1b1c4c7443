import Foundation
import HTTPTransport
import NIOCore
import SkyRTC

/// A participant of a SkyRTC room without a browser, which sends what a test requires.
struct ScriptedParticipant: Sendable {
  private let socket: WebSocketClient
  /// The ids of the participants who joined before.
  let others: [String]

  /// Joins a room.
  init(joining room: String, of server: Server, in network: Network) async throws {
    socket = try await WebSocketClient.connect(to: server.address, on: network.loops)
    try await socket.send(text: JSON.object(["eventName": "__join", "data": ["room": .string(room)]]).text)
    others = try await within(.seconds(5), "_peers") { [socket] in
      for await message in socket.messages {
        guard case .text(let text) = message else { continue }
        let value = try JSON(parsing: text)
        if value["eventName"] == "_peers" { return value["data"]["connections"].list.compactMap(\.string) }
      }
      return []
    }
  }

  /// Sends an offer to a participant.
  func offer(_ sdp: String, to other: String) async throws {
    let data: JSON = ["sdp": ["type": "offer", "sdp": .string(sdp)], "socketId": .string(other)]
    try await socket.send(text: JSON.object(["eventName": "__offer", "data": data]).text)
  }

  /// Sends any text.
  func send(_ text: String) async throws {
    try await socket.send(text: text)
  }

  func leave() {
    socket.close()
  }

  /// Leaves, and waits until the connection is closed.
  func leaveAndWait() async throws {
    leave()
    try await within(.seconds(5), "the end of the connection") { [socket] in
      for await _ in socket.messages {}
    }
  }
}
