internal import FoundationEssentials

/// What a job process does at a moment.
package struct JobStatus: Sendable, Hashable {
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// It reads its specification, opens its input and connects to the server.
    case starting
    /// It has asked the server to admit it.
    case joining
    /// It is in the room.
    case joined
    /// It leaves the room and finishes its files.
    case leaving
  }

  /// Milliseconds since 1970.
  package var time: Int64
  /// The name of the state; a later version may have further states.
  package var state: String
  package var paused: PauseState
  /// The users, in the order of their ids.
  package var users: [UserStatus] = []
  /// How many users there are; more than ``users`` if they do not fit into a line.
  package var userCount = 0
  /// CPU time of the process and of its media workers since the start, in seconds.
  package var cpuSeconds: Double = 0
  /// The part of it that verified recorded frames, in seconds.
  package var verificationCPUSeconds: Double = 0
  /// The memory that the process shares with no other, in bytes.
  package var privateBytes: Int64 = 0
  /// Bytes of recordings written since the start.
  package var bytesWritten: Int64 = 0
  /// Sums of the job since its start, also of users who have left.
  package var totals = MediaCounts()
  /// How many users are stalled now.
  package var stalledUsers = 0

  package init(time: Int64, state: State, paused: PauseState = .none) {
    self.time = time
    self.state = state.rawValue
    self.paused = paused
  }
}

/// Counters of received media.
package struct MediaCounts: Sendable, Hashable {
  package var packets: UInt64 = 0
  /// Packets that never came.
  package var lost: UInt64 = 0
  /// Packets that came because they were asked for again or rebuilt.
  package var recovered: UInt64 = 0
  /// Complete video and audio frames.
  package var frames: UInt64 = 0
  /// Recorded frames that could not be decoded.
  package var decodeErrors: UInt64 = 0
  /// Recorded frames that were not verified, because the processor had no time.
  package var unverified: UInt64 = 0

  package init() {}
}

/// What a user sends.
package struct UserStatus: Sendable, Hashable, Codable {
  /// The user's id.
  package var user: String
  package var name: String?
  /// `connecting`, `connected`, `disconnected`, `failed` or `closed`.
  package var state: String
  /// Received bits a second.
  package var bitrate: Double
  /// Sent bits a second; nil if nothing is sent to the user.
  package var sentBitrate: Double?
  /// Video frames a second.
  package var framesPerSecond: Double
  package var counts: MediaCounts
  /// The level of the audio in dB of full scale, at most 0; nil if it is not known, and for a paused user.
  package var audioLevel: Double?
  /// When the last frame was written, in milliseconds since 1970; nil if none was.
  package var lastFrameAt: Int64?
  package var isPaused: Bool
  /// Whether the media stands still without a reason.
  package var isStalled: Bool
  /// Whether video of the user was recorded, from a keyframe on; nil if the process is of a version that does not say it.
  package var hasRecordedVideo: Bool?

  package init(user: String, name: String? = nil, state: String) {
    self.user = user
    self.name = name
    self.state = state
    bitrate = 0
    framesPerSecond = 0
    counts = MediaCounts()
    isPaused = false
    isStalled = false
  }
}

extension JobStatus: Codable {
  private enum CodingKeys: String, CodingKey {
    case time, state, paused, users, userCount, cpuSeconds, verificationCPUSeconds, privateBytes, bytesWritten, totals
    case stalledUsers
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    time = try fields.decode(Int64.self, forKey: .time)
    state = try fields.decode(ASCIIName.self, forKey: .state).text
    paused = try fields.decode(PauseState.self, forKey: .paused)
    users = try fields.decodeIfPresent([UserStatus].self, forKey: .users) ?? []
    // Sums over all jobs overflow nothing, whatever a process says.
    func count(_ key: CodingKeys) throws -> Int? {
      try fields.decodeIfPresent(Int.self, forKey: key).map { min(max($0, 0), 1_000_000) }
    }
    userCount = try count(.userCount) ?? users.count
    cpuSeconds = try fields.decodeIfPresent(Double.self, forKey: .cpuSeconds) ?? 0
    verificationCPUSeconds = try fields.decodeIfPresent(Double.self, forKey: .verificationCPUSeconds) ?? 0
    privateBytes = try fields.decodeIfPresent(Int64.self, forKey: .privateBytes) ?? 0
    bytesWritten = try fields.decodeIfPresent(Int64.self, forKey: .bytesWritten) ?? 0
    totals = try fields.decodeIfPresent(MediaCounts.self, forKey: .totals) ?? MediaCounts()
    stalledUsers = try count(.stalledUsers) ?? 0
  }
}

extension MediaCounts: Codable {
  private enum CodingKeys: String, CodingKey { case packets, lost, recovered, frames, decodeErrors, unverified }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func count(_ key: CodingKeys) throws -> UInt64 { try fields.decodeIfPresent(UInt64.self, forKey: key) ?? 0 }
    packets = try count(.packets)
    lost = try count(.lost)
    recovered = try count(.recovered)
    frames = try count(.frames)
    decodeErrors = try count(.decodeErrors)
    unverified = try count(.unverified)
  }
}
