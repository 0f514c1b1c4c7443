import Foundation
import TestSupport

/// The messages of one recorded WebSocket.
enum RecordedMessages {
  static let files = [
    "janus112-recorder.json", "janus112-publisher.json", "janus112-second-publisher.json", "janus112-errors.json",
    "janus112-text-ids-recorder.json", "janus112-text-ids-publisher.json",
  ]

  /// Returns the messages of a file in one direction, as JSON texts.
  static func texts(_ file: String, _ direction: String = "received") throws -> [String] {
    let text = try Fixture.text(file, in: .module)
    let entries = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
    return try entries.filter { $0["direction"] as? String == direction }.map {
      let message = try JSONSerialization.data(
        withJSONObject: $0["message"] ?? [:], options: [.sortedKeys, .withoutEscapingSlashes])
      return String(decoding: message, as: UTF8.self)
    }
  }

  /// Returns the session descriptions of a file in one direction.
  static func descriptions(_ file: String, _ direction: String) throws -> [String] {
    try texts(file, direction).compactMap {
      let message = try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      return (message?["jsep"] as? [String: Any])?["sdp"] as? String
    }
  }

  static func all() throws -> [String] { try files.flatMap { try texts($0) } }
}
