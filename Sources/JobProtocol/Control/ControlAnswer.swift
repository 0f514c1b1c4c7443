package import FoundationEssentials
internal import JSON

/// An answer on the control socket: one line of JSON with the request's id, and either `error` or what the request asks for.
package struct ControlAnswer: Sendable, Hashable {
  /// That of the request.
  package var id: Int64
  package var result: Result

  package enum Result: Sendable, Hashable {
    case hello(Hello)
    /// To `status`, and each second to `subscribe`.
    case status(JobStatus)
    /// To `pause` and `resume`, when it is in the journal and applied.
    case paused(JournalEvent.PauseChange)
    /// A part of the bytes of a snapshot.
    case snapshot(SnapshotPart)
    /// To `stop`: the job is ending.
    case stopping
    case error(ControlError)
    /// An answer that this version does not know.
    case other
  }

  package struct Hello: Sendable, Hashable, Codable {
    package var `protocol`: Int
    /// The version of the program.
    package var version: String
    package var job: String
    package var attempt: Int
    package var attemptID: String
    package var process: Int32

    package init(
      protocol: Int = JobProtocol.version, version: String, job: String, attempt: Int, attemptID: String, process: Int32
    ) {
      self.protocol = `protocol`
      self.version = version
      self.job = job
      self.attempt = attempt
      self.attemptID = attemptID
      self.process = process
    }
  }

  /// A snapshot has more bytes than a line, so it is sent in several answers with the same id, in order.
  package struct SnapshotPart: Sendable, Hashable, Codable {
    /// The time of the frame, in milliseconds since 1970.
    package var time: Int64
    package var width: Int
    package var height: Int
    /// The number of the part, from 0, and how many there are.
    package var part: Int
    package var parts: Int
    /// A part of the bytes of the PNG file, as base64.
    package var png: Data

    /// The maximum number of bytes of a part.
    package static let maximumBytes = 48_000

    package init(time: Int64, width: Int, height: Int, part: Int, parts: Int, png: Data) {
      self.time = time
      self.width = width
      self.height = height
      self.part = part
      self.parts = parts
      self.png = png
    }
  }

  package init(id: Int64, _ result: Result) {
    self.id = id
    self.result = result
  }

  /// The line, without its end.
  package var line: Data { get throws { try JSONText.encode(self) } }

  /// Reads a line.
  package init(parsing line: some DataProtocol) throws(ControlLineError) {
    self = try ControlLine.decode(Self.self, from: line)
  }
}

/// Why a request was not carried out.
package struct ControlError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// A word for programs; a later version may have further ones.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The line is no request.
    case badRequest
    /// This version does not know the request.
    case unknownRequest
    /// There is no such user or stream, or it has no frame yet.
    case notFound
    /// The user is paused, and there is no snapshot of a paused user.
    case paused
    /// The request came too soon after the one before.
    case tooSoon
    /// The job does nothing of the kind, for example pause without recording.
    case notSupported
    /// It cannot be done now: the job has not begun, or is ending.
    case notNow
    /// It failed; the sentence says why.
    case failed
  }

  package var code: String
  package var sentence: String

  package init(_ code: Code, _ sentence: String) {
    self.code = code.rawValue
    self.sentence = sentence
  }

  package var description: String { sentence }
}

extension ControlAnswer: Codable {
  private enum CodingKeys: String, CodingKey { case id, hello, status, paused, snapshot, stopping, error }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(Int64.self, forKey: .id)
    if let error = try fields.decodeIfPresent(ControlError.self, forKey: .error) {
      result = .error(error)
    } else if let hello = try fields.decodeIfPresent(Hello.self, forKey: .hello) {
      result = .hello(hello)
    } else if let status = try fields.decodeIfPresent(JobStatus.self, forKey: .status) {
      result = .status(status)
    } else if let change = try fields.decodeIfPresent(JournalEvent.PauseChange.self, forKey: .paused) {
      result = .paused(change)
    } else if let part = try fields.decodeIfPresent(SnapshotPart.self, forKey: .snapshot) {
      result = .snapshot(part)
    } else {
      result = try fields.decodeIfPresent(Bool.self, forKey: .stopping) == true ? .stopping : .other
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    switch result {
    case .hello(let value): try fields.encode(value, forKey: .hello)
    case .status(let value): try fields.encode(value, forKey: .status)
    case .paused(let value): try fields.encode(value, forKey: .paused)
    case .snapshot(let value): try fields.encode(value, forKey: .snapshot)
    case .stopping: try fields.encode(true, forKey: .stopping)
    case .error(let value): try fields.encode(value, forKey: .error)
    case .other: break
    }
  }
}
