package import FoundationEssentials
internal import JSON

/// A request on the control socket: one line of JSON, `{"id":1,"request":"status"}`.
package struct ControlRequest: Sendable, Hashable {
  /// Chosen by the client; answers have the same. Not negative.
  package var id: Int64
  package var command: Command

  package enum Command: Sendable, Hashable {
    /// Who answers: the version of the interface and of the program, the job and the attempt. A client that sent it counts as a
    /// connected service as long as its connection lasts.
    case hello
    case status
    /// A status now and each second, until the connection ends.
    case subscribe
    /// Stops the recording of users; nil for everybody, also those who come later.
    case pause(users: [String]?)
    /// Continues the recording of users; nil for everybody.
    case resume(users: [String]?)
    /// The last decoded frame of a user.
    ///
    /// - Parameter stream: the number of the user's stream, from 1; nil for the first.
    case snapshot(user: String, stream: Int?)
    /// Ends the job in order.
    ///
    /// - Parameter reason: what the journal is to say; `stopped` without one.
    case stop(reason: JobEndReason?)
    /// A request that this version does not know.
    case unknown(String)
  }

  package init(id: Int64, _ command: Command) {
    self.id = id
    self.command = command
  }

  /// The line, without its end.
  package var line: Data { get throws { try JSONText.encode(self) } }

  /// Reads a line.
  package init(parsing line: some DataProtocol) throws(ControlLineError) {
    self = try ControlLine.decode(Self.self, from: line)
  }
}

extension ControlRequest: Codable {
  private enum CodingKeys: String, CodingKey { case id, request, users, user, stream, reason }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(Int64.self, forKey: .id)
    guard id >= 0 else {
      throw DecodingError.dataCorruptedError(forKey: .id, in: fields, debugDescription: "The id is negative.")
    }
    let request = try fields.decode(ASCIIName.self, forKey: .request).text
    switch request {
    case "hello": command = .hello
    case "status": command = .status
    case "subscribe": command = .subscribe
    case "pause": command = .pause(users: try fields.decodeIfPresent([String].self, forKey: .users))
    case "resume": command = .resume(users: try fields.decodeIfPresent([String].self, forKey: .users))
    case "snapshot":
      command = .snapshot(
        user: try fields.decode(String.self, forKey: .user),
        stream: try fields.decodeIfPresent(Int.self, forKey: .stream))
    case "stop": command = .stop(reason: try fields.decodeIfPresent(JobEndReason.self, forKey: .reason))
    default: command = .unknown(request)
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    let request: String
    switch command {
    case .hello: request = "hello"
    case .status: request = "status"
    case .subscribe: request = "subscribe"
    case .pause(let users):
      request = "pause"
      try fields.encodeIfPresent(users, forKey: .users)
    case .resume(let users):
      request = "resume"
      try fields.encodeIfPresent(users, forKey: .users)
    case .snapshot(let user, let stream):
      request = "snapshot"
      try fields.encode(user, forKey: .user)
      try fields.encodeIfPresent(stream, forKey: .stream)
    case .stop(let reason):
      request = "stop"
      try fields.encodeIfPresent(reason, forKey: .reason)
    case .unknown(let name): request = name
    }
    try fields.encode(request, forKey: .request)
  }
}
