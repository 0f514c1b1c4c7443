import Foundation
import HTTPTransport
import NIOCore
import SkyRTC

/// Sends numbered JSON commands over a WebSocket and receives their answers, as in DevTools and WebDriver BiDi.
actor CommandChannel {
  enum Failure: Error, CustomStringConvertible {
    case refused(method: String, reason: String)
    case closed(method: String)

    var description: String {
      switch self {
      case .refused(let method, let reason): "The browser refused \(method): \(reason)"
      case .closed(let method): "The browser closed its connection during \(method)."
      }
    }
  }

  private let socket: WebSocketClient
  private let eventReceived: @Sendable (JSON) async -> Void
  private var number = 0
  private var waiting: [Int: (method: String, answer: CheckedContinuation<JSON, any Error>)] = [:]
  private var isClosed = false
  private var reader: Task<Void, Never>?

  private init(socket: WebSocketClient, eventReceived: @escaping @Sendable (JSON) async -> Void) {
    self.socket = socket
    self.eventReceived = eventReceived
  }

  /// Connects to a browser.
  ///
  /// - Parameter eventReceived: called with every message that is not an answer, in order.
  static func connect(
    to address: String, on loops: any EventLoopGroup, eventReceived: @escaping @Sendable (JSON) async -> Void
  ) async throws -> CommandChannel {
    var options = WebSocketClient.Options()
    options.limits.maximumMessageBytes = 64 << 20
    options.limits.maximumOutgoingBytes = 64 << 20
    options.limits.pingInterval = nil
    let socket = try await WebSocketClient.connect(to: address, options: options, on: loops)
    let channel = CommandChannel(socket: socket, eventReceived: eventReceived)
    await channel.startReading()
    return channel
  }

  /// Sends a command and waits for its result.
  ///
  /// - Parameter extras: members besides `id`, `method` and `params`, for example DevTools' `sessionId`.
  func call(
    _ method: String, _ parameters: JSON = [:], extras: [String: JSON] = [:], within limit: Duration = .seconds(20)
  ) async throws -> JSON {
    guard !isClosed else { throw Failure.closed(method: method) }
    number += 1
    let id = number
    let message = extras.merging(["id": .number(Double(id)), "method": .string(method), "params": parameters]) { $1 }
    let text = try JSON.object(message).text
    let timeout = Task {
      try await sleepOnEventLoop(for: limit)
      finish(id, .failure(TimeoutError(what: "answer to \(method)", limit: limit)))
    }
    defer { timeout.cancel() }
    return try await withCheckedThrowingContinuation { answer in
      waiting[id] = (method, answer)
      socket.send(.text(text))
    }
  }

  func close() {
    socket.close()
    end()
  }

  private func startReading() {
    reader = Task { [socket, eventReceived] in
      for await message in socket.messages {
        guard case .text(let text) = message, let value = try? JSON(parsing: text) else { continue }
        if let id = value["id"].int {
          self.answered(id, value)
        } else {
          await eventReceived(value)
        }
      }
      self.end()
    }
  }

  private func answered(_ id: Int, _ value: JSON) {
    guard let method = waiting[id]?.method else { return }
    if value["error"] == .null {
      finish(id, .success(value["result"]))
    } else {
      let reason = value["error"]["message"].string ?? value["message"].string ?? "\(value["error"])"
      finish(id, .failure(Failure.refused(method: method, reason: reason)))
    }
  }

  private func finish(_ id: Int, _ result: Result<JSON, any Error>) {
    waiting.removeValue(forKey: id)?.answer.resume(with: result)
  }

  private func end() {
    isClosed = true
    reader?.cancel()
    for (_, entry) in waiting { entry.answer.resume(throwing: Failure.closed(method: entry.method)) }
    waiting = [:]
  }
}
