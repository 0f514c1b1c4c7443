import Foundation
import SkyRTC
import TestSupport

/// Somebody in a room who sends anything, and hears what comes back.
struct HostileParticipant: Sendable {
  struct NotLetIn: Error, CustomStringConvertible {
    var description: String { "The server did not let the attacker into the room." }
  }

  private let socket: WebSocketClient
  /// The id that the server gave.
  let id: String
  /// The ids of those who were there before, oldest first.
  let others: [String]

  /// Joins a room.
  ///
  /// - Parameter claim: what the join says besides the room's name.
  init(
    joining room: String, of server: Server, in network: Network, claiming claim: [String: JSON] = [:]
  ) async throws {
    let join: JSON = ["eventName": "__join", "data": .object(claim.merging(["room": .string(room)]) { $1 })]
    socket = try await WebSocketClient.connect(to: server.address, on: network.loops)
    do {
      socket.send(.text(try join.text))
      let peers = try await Self.message(from: socket) { $0["eventName"] == "_peers" ? $0["data"] : nil }
      guard let peers else { throw NotLetIn() }
      id = peers["you"].string ?? ""
      others = peers["connections"].list.compactMap(\.string)
    } catch {
      // Anyone who gives up must not stay in the room.
      socket.close()
      throw error
    }
  }

  /// Sends texts, one after another. The server may have had enough before the last.
  func send(_ texts: [String]) async {
    for text in texts {
      do {
        try await withTaskCancellationHandler {
          try await socket.send(text: text)
        } onCancel: {
          socket.close()
        }
      } catch {
        return
      }
    }
  }

  /// Sends a text without waiting for it to leave.
  func throwIn(_ text: String) {
    socket.send(.text(text))
  }

  /// Offers to somebody and waits for where they receive media on loopback; nil if they do not say.
  func mediaPlace(of other: String) async throws -> CandidateText.Place? {
    try await socket.send(text: HostileDescription.offer(HostileDescription.video, to: other))
    return try await Self.message(from: socket) { message in
      guard message["data"]["socketId"].string == other else { return nil }
      let data = message["data"]
      let found = CandidateText.candidates(in: data["sdp"]["sdp"].string ?? "") + [data["candidate"].string ?? ""]
      return found.lazy.compactMap(CandidateText.hostPlace).first { $0.address.hasPrefix("127.") }
    }
  }

  func leave() {
    socket.close()
  }

  /// Waits until the server closes the connection, or the time of the attack is over.
  func ended() async {
    await withTaskCancellationHandler {
      _ = await socket.ended()
    } onCancel: {
      socket.close()
    }
  }

  /// Waits for a message that `find` finds something in; nil when the connection ends before.
  private static func message<Found: Sendable>(
    from socket: WebSocketClient, _ find: @escaping @Sendable (JSON) -> Found?
  ) async throws -> Found? {
    try await within(.seconds(5), "message from the server") {
      for await message in socket.messages {
        guard case .text(let text) = message else { continue }
        if let found = find(try JSON(parsing: text)) { return found }
      }
      return nil
    }
  }
}
