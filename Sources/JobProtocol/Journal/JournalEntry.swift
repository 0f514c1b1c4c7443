package import FoundationEssentials
internal import JSON

/// One line of `journal.ndjson`: what happened to a job.
package struct JournalEntry: Sendable, Hashable {
  /// From 1, without holes.
  package var seq: Int64
  /// Milliseconds since 1970-01-01 00:00 UTC.
  package var time: Int64
  package var event: JournalEvent

  /// The maximum length of a line in bytes, without its end.
  package static let maximumBytes = 65_536

  package init(seq: Int64, time: Int64, event: JournalEvent) {
    self.seq = seq
    self.time = time
    self.event = event
  }

  /// The line, without its end.
  package var line: Data { get throws { try JSONText.encode(self) } }
}

/// What an entry says; `type` with the fields of the type beside it.
package enum JournalEvent: Sendable, Hashable {
  /// The process began.
  case started(Started)
  /// The server admitted us to the room.
  ///
  /// - Parameter user: our id, where the signalling system has ids.
  case joined(user: String)
  /// A user came, or was there when we joined.
  case participantJoined(Participant)
  case participantLeft(Participant)
  /// A file is complete and will not change.
  case fileClosed(ClosedFile)
  case paused(PauseChange)
  case resumed(PauseChange)
  /// The media of a user stands still without a reason.
  ///
  /// - Parameters:
  ///   - user: the user's id.
  ///   - since: when the last frame came, in milliseconds since 1970; nil if none ever came.
  case stalled(user: String, since: Int64?)
  /// Something went wrong, and the job goes on.
  ///
  /// - Parameters:
  ///   - user: the user's id; nil if it concerns no user.
  ///   - sentence: for people.
  case problem(user: String?, sentence: String)
  /// The last entry of a process that ended in order.
  case ended(Ended)
  /// An entry of a type that this version does not know.
  case other(type: String)

  package struct Started: Sendable, Hashable, Codable {
    /// The version of the interface.
    package var `protocol`: Int
    /// The version of the program.
    package var version: String
    package var job: String
    package var attempt: Int
    package var attemptID: String
    package var kind: JobKind
    /// The id of the process.
    package var process: Int32
    /// Who is paused at the beginning.
    package var paused: PauseState

    package init(
      protocol: Int = JobProtocol.version, version: String, job: String, attempt: Int, attemptID: String, kind: JobKind,
      process: Int32, paused: PauseState
    ) {
      self.protocol = `protocol`
      self.version = version
      self.job = job
      self.attempt = attempt
      self.attemptID = attemptID
      self.kind = kind
      self.process = process
      self.paused = paused
    }
  }

  package struct Participant: Sendable, Hashable, Codable {
    /// The user's id, as the server wrote it; at most 1,024 bytes of it.
    package var user: String
    /// The name that the user gave itself, without what is not visible.
    package var name: String?

    package init(user: String, name: String? = nil) {
      self.user = user
      self.name = name
    }
  }

  package struct ClosedFile: Sendable, Hashable, Codable {
    /// What a file is.
    package enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
      /// Frames of a user: WebM, Matroska or Ogg.
      case media
      /// What a user's media files contain.
      case manifest
      /// The chat of the room or of a user.
      case chat
      /// Who was there, and why the call ended.
      case summary
      /// The verdict of a check.
      case report

      /// The kind of a file that a call leaves beside media and manifests, by its name; nil for others.
      package init?(fileName name: String) {
        func ends(_ ending: String) -> Bool { name.utf8.reversed().starts(with: ending.utf8.reversed()) }
        guard name.utf8.first != UInt8(ascii: ".") else { return nil }
        if name.utf8.elementsEqual("report.json".utf8) || name.utf8.elementsEqual("report.html".utf8) {
          self = .report
        } else if ends(".session.json") {
          self = .summary
        } else if ends(".chat.jsonl") || ends(".vtt") {
          self = .chat
        } else {
          return nil
        }
      }
    }

    /// Below the folder of media; without a folder of its own.
    package var name: String
    /// The name of the kind; a later version may have further kinds.
    package var kind: String
    /// The id of the user whose file it is; nil for files of the room.
    package var user: String?
    package var userName: String?
    /// The number of the user's stream, from 1; nil for files of no stream.
    package var stream: Int?
    /// The number of the segment, from 1; nil for files without segments.
    package var segment: Int?
    /// The wall-clock time of the first frame, in milliseconds since 1970; nil for files without media.
    package var start: Int64?
    /// In milliseconds; nil for files without media.
    package var duration: Int64?
    package var bytes: Int64
    /// In hexadecimal digits.
    package var sha256: String

    package init(
      name: String, kind: Kind, user: String? = nil, userName: String? = nil, stream: Int? = nil, segment: Int? = nil,
      start: Int64? = nil, duration: Int64? = nil, bytes: Int64, sha256: String
    ) {
      self.name = name
      self.kind = kind.rawValue
      self.user = user
      self.userName = userName
      self.stream = stream
      self.segment = segment
      self.start = start
      self.duration = duration
      self.bytes = bytes
      self.sha256 = sha256
    }
  }

  package struct PauseChange: Sendable, Hashable, Codable {
    /// The ids of the users that the request named; nil for everybody.
    package var users: [String]?
    /// From when it counts, in milliseconds since 1970.
    package var effectiveAt: Int64
    /// Who is paused from then on.
    package var state: PauseState

    package init(users: [String]?, effectiveAt: Int64, state: PauseState) {
      self.users = users
      self.effectiveAt = effectiveAt
      self.state = state
    }
  }

  package struct Ended: Sendable, Hashable, Codable {
    package var reason: JobEndReason
    /// The exit code of the process.
    package var exitCode: Int32
    /// For people.
    package var sentence: String
    /// How many entries of the type `problem` were left out because the journal was full; nil for none.
    package var problemsDropped: Int64?

    package init(reason: JobEndReason, exitCode: Int32, sentence: String, problemsDropped: Int64? = nil) {
      self.reason = reason
      self.exitCode = exitCode
      self.sentence = sentence
      self.problemsDropped = problemsDropped
    }
  }

  /// The name of the type.
  package var type: String {
    switch self {
    case .started: "started"
    case .joined: "joined"
    case .participantJoined: "participantJoined"
    case .participantLeft: "participantLeft"
    case .fileClosed: "fileClosed"
    case .paused: "paused"
    case .resumed: "resumed"
    case .stalled: "stalled"
    case .problem: "problem"
    case .ended: "ended"
    case .other(let type): type
    }
  }
}

extension JournalEvent.Ended {
  /// A reason that this version does not know is read as the one that fits the exit code.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    exitCode = try fields.decode(Int32.self, forKey: .exitCode)
    let name = try fields.decode(ASCIIName.self, forKey: .reason).text
    reason = JobEndReason(rawValue: name) ?? JobEndReason(exitCode: exitCode)
    sentence = try fields.decode(String.self, forKey: .sentence)
    problemsDropped = try fields.decodeIfPresent(Int64.self, forKey: .problemsDropped)
  }
}

extension JournalEntry: Codable {
  private enum CodingKeys: String, CodingKey { case seq, time, type, user, since, sentence }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    seq = try fields.decode(Int64.self, forKey: .seq)
    time = try fields.decode(Int64.self, forKey: .time)
    let type = try fields.decode(ASCIIName.self, forKey: .type).text
    event =
      switch type {
      case "started": .started(try JournalEvent.Started(from: decoder))
      case "joined": .joined(user: try fields.decode(String.self, forKey: .user))
      case "participantJoined": .participantJoined(try JournalEvent.Participant(from: decoder))
      case "participantLeft": .participantLeft(try JournalEvent.Participant(from: decoder))
      case "fileClosed": .fileClosed(try JournalEvent.ClosedFile(from: decoder))
      case "paused": .paused(try JournalEvent.PauseChange(from: decoder))
      case "resumed": .resumed(try JournalEvent.PauseChange(from: decoder))
      case "stalled":
        .stalled(
          user: try fields.decode(String.self, forKey: .user),
          since: try fields.decodeIfPresent(Int64.self, forKey: .since))
      case "problem":
        .problem(
          user: try fields.decodeIfPresent(String.self, forKey: .user),
          sentence: try fields.decode(String.self, forKey: .sentence))
      case "ended": .ended(try JournalEvent.Ended(from: decoder))
      default: .other(type: type)
      }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(seq, forKey: .seq)
    try fields.encode(time, forKey: .time)
    try fields.encode(event.type, forKey: .type)
    switch event {
    case .started(let value): try value.encode(to: encoder)
    case .joined(let user): try fields.encode(user, forKey: .user)
    case .participantJoined(let value), .participantLeft(let value): try value.encode(to: encoder)
    case .fileClosed(let value): try value.encode(to: encoder)
    case .paused(let value), .resumed(let value): try value.encode(to: encoder)
    case .stalled(let user, let since):
      try fields.encode(user, forKey: .user)
      try fields.encodeIfPresent(since, forKey: .since)
    case .problem(let user, let sentence):
      try fields.encodeIfPresent(user, forKey: .user)
      try fields.encode(sentence, forKey: .sentence)
    case .ended(let value): try value.encode(to: encoder)
    case .other: break
    }
  }
}

/// A word of the interface: 1 to 64 ASCII letters, which compare as fast as bytes.
struct ASCIIName: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    let text = try value.decode(String.self)
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw DecodingError.dataCorruptedError(in: value, debugDescription: "The text is no name.")
    }
    self.text = text
  }
}
