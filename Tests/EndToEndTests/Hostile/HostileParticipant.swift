import Foundation
import HTTPTransport
import SkyRTC
import TestSupport

/// A participant of a room that sends any text and receives the answers.
struct HostileParticipant: Sendable {
  struct NotAdmitted: Error, CustomStringConvertible {
    var description: String { "The server did not let the attacker into the room." }
  }

  private let socket: WebSocketClient
  /// The id assigned by the server.
  let id: String
  /// The ids of the participants who joined before, oldest first.
  let others: [String]

  /// Joins a room.
  ///
  /// - Parameter claim: fields of the join besides the room's name.
  init(
    joining room: String, of server: Server, in network: Network, claiming claim: [String: JSON] = [:]
  ) async throws {
    let join: JSON = ["eventName": "__join", "data": .object(claim.merging(["room": .string(room)]) { $1 })]
    socket = try await WebSocketClient.connect(to: server.address, on: network.loops)
    do {
      socket.send(.text(try join.text))
      let peers = try await Self.message(from: socket) { $0["eventName"] == "_peers" ? $0["data"] : nil }
      guard let peers else { throw NotAdmitted() }
      id = peers["you"].string ?? ""
      others = peers["connections"].list.compactMap(\.string)
    } catch {
      // A participant that gives up must not stay in the room.
      socket.close()
      throw error
    }
  }

  /// Sends texts, one after another. The server may close the connection before the last.
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

  /// Queues a text without waiting until it is sent.
  func sendWithoutWaiting(_ text: String) {
    socket.send(.text(text))
  }

  /// Sends an offer and waits for the participant's loopback address for media; nil if it sends none.
  ///
  /// - Parameter find: finds the address in a candidate.
  func mediaEndpoint(
    of other: String,
    find: @escaping @Sendable (String) -> CandidateText.Endpoint? = { CandidateText.hostEndpoint(of: $0) }
  ) async throws -> CandidateText.Endpoint? {
    try await socket.send(text: HostileDescription.offer(HostileDescription.video, to: other))
    return try await Self.message(from: socket) { message in
      guard message["data"]["socketId"].string == other else { return nil }
      let data = message["data"]
      let found = CandidateText.candidates(in: data["sdp"]["sdp"].string ?? "") + [data["candidate"].string ?? ""]
      return found.lazy.compactMap(find).first { $0.address.hasPrefix("127.") }
    }
  }

  func leave() {
    socket.close()
  }

  /// Waits until the server closes the connection or the time of the attack is over.
  func ended() async {
    await withTaskCancellationHandler {
      _ = await socket.ended()
    } onCancel: {
      socket.close()
    }
  }

  /// Waits for a message in which `find` finds something; nil if the connection ends first.
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
