internal import FoundationEssentials
package import JSON
internal import Media

/// What is sent of an event (Standard Webhooks 1.0). It is the same in each try; only its time and signatures differ.
package struct WebhookMessage: Sendable, Hashable {
  /// The id of the event: `webhook-id`.
  package let id: String
  /// JSON.
  package let body: [UInt8]

  package init(id: String, body: [UInt8]) {
    self.id = id
    self.body = body
  }

  /// The event of a job.
  package struct Event: Sendable {
    package var id: String
    package var type: String
    /// RFC 3339.
    package var timestamp: String
    /// The id, the kind, the room and the labels of the job.
    package var job: JSONValue
    package var sequence: Int64
    /// The attempt that the event is of; 0 before the first one.
    package var attempt: Int64
    /// An object.
    package var data: JSONValue

    package init(
      id: String, type: String, timestamp: String, job: JSONValue, sequence: Int64, attempt: Int64, data: JSONValue
    ) {
      self.id = id
      self.type = type
      self.timestamp = timestamp
      self.job = job
      self.sequence = sequence
      self.attempt = attempt
      self.data = data
    }
  }

  /// - Throws: the error of an encoder, which has no cause that is known.
  package init(_ event: Event) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let fields: [String: JSONValue] = [
      "type": .string(.init(event.type)), "timestamp": .string(.init(event.timestamp)), "job": event.job,
      "sequence": .number(Double(event.sequence)), "attempt": .number(Double(event.attempt)), "data": event.data,
    ]
    self.init(id: event.id, body: Array(try encoder.encode(JSONValue.object(fields))))
  }

  package static let idField = "webhook-id"
  package static let timestampField = "webhook-timestamp"
  package static let signatureField = "webhook-signature"

  /// Returns the fields of the head that identify and sign the message.
  ///
  /// - Parameters:
  ///   - time: seconds since 1970, when it is sent.
  ///   - secrets: a signature for each; they are separated by spaces.
  /// - Returns: nil if it cannot be signed.
  package func fields(at time: Int64, secrets: WebhookSecretList) -> [(name: String, value: String)]? {
    let content = Array("\(id).\(time).".utf8) + body
    let signatures = secrets.secrets.compactMap { $0.signature(of: content) }
    guard signatures.count == secrets.secrets.count else { return nil }
    return [
      (Self.idField, id), (Self.timestampField, "\(time)"), (Self.signatureField, signatures.joined(separator: " ")),
    ]
  }
}
