internal import BotPeer
internal import Glibc
internal import JobProtocol
internal import Media
internal import Recorder

/// Makes the status of a job from what its parts say. Pure.
struct StatusSampler {
  /// What rates are computed from.
  struct Earlier: Sendable {
    var time: MonotonicInstant
    var frames: [ParticipantID: UInt64]
    var bytesSent: [ParticipantID: UInt64]
  }

  var time: Int64
  var now: MonotonicInstant
  var phase: JobStatus.State
  var paused: PauseState
  var figures: ProcessFigures
  var peers: [PeerStatistics] = []
  var recordings: [RecordingStatus] = []
  var bytesWritten: Int64 = 0
  var counts = ReceivedCounts()
  var stalled: Set<ParticipantID> = []
  var earlier: Earlier?
  var name: (ParticipantID) -> String? = { _ in nil }
  var isPaused: (ParticipantID) -> Bool = { _ in false }

  var status: JobStatus {
    var status = JobStatus(time: time, state: phase, paused: paused)
    status.users = peers.sorted { $0.participant < $1.participant }.map(user)
    status.userCount = peers.count
    status.cpuSeconds = figures.cpuSeconds
    status.verificationCPUSeconds = figures.verificationSeconds
    status.privateBytes = figures.privateBytes
    status.bytesWritten = bytesWritten
    status.totals = counts.total(recordings)
    status.stalledUsers = stalled.count
    return status
  }

  /// The counters for the next status.
  var next: Earlier {
    Earlier(
      time: now, frames: Dictionary(peers.map { ($0.participant, Self.videoFrames($0)) }) { $1 },
      bytesSent: Dictionary(peers.map { ($0.participant, $0.bytesSent) }) { $1 })
  }

  private func user(_ peer: PeerStatistics) -> UserStatus {
    let id = peer.participant
    var user = UserStatus(
      user: id.text.prefix(utf8Bytes: JobObserver.maximumID), name: name(id).flatMap { DisplayName($0)?.description },
      state: peer.state.rawValue)
    user.bitrate = Self.finite(peer.received.values.reduce(0) { $0 + $1.bitrate })
    user.framesPerSecond = rate(Self.videoFrames(peer), earlier?.frames[id])
    if peer.bytesSent > 0 { user.sentBitrate = rate(peer.bytesSent, earlier?.bytesSent[id]) * 8 }
    user.counts = MediaCounts(peer)
    user.isPaused = isPaused(id)
    user.isStalled = stalled.contains(id)
    let own = recordings.filter { $0.participant == id }
    user.counts.decodeErrors = own.reduce(0) { $0 &+ ($1.decodeErrors ?? 0) }
    user.counts.unverified = own.reduce(0) { $0 &+ ($1.unverified ?? 0) }
    user.hasRecordedVideo = own.contains { ($0.frames[.video] ?? 0) > 0 }
    if !user.isPaused { user.audioLevel = own.compactMap(\.audioLevel).max().map(Self.decibels) }
    user.lastFrameAt = own.compactMap { recording in
      recording.start.map { start in
        time - Int64(max(0, (now - (MonotonicInstant(start) + recording.duration)).seconds) * 1_000)
      }
    }.max()
    return user
  }

  private func rate(_ count: UInt64, _ before: UInt64?) -> Double {
    guard let earlier, let before, count >= before, now > earlier.time else { return 0 }
    return Self.finite(Double(count - before) / (now - earlier.time).seconds)
  }

  private static func videoFrames(_ peer: PeerStatistics) -> UInt64 {
    peer.received.reduce(0) { $1.key.kind == .video ? $0 &+ $1.value.frames : $0 }
  }

  /// The minimum level that is stated.
  private static let silence = -127.0

  /// Returns a root mean square as dB of full scale, with one decimal.
  private static func decibels(_ level: Double) -> Double {
    guard level.isFinite, level > 0 else { return silence }
    return min(0, max(silence, (20 * log10(level) * 10).rounded() / 10))
  }

  private static func finite(_ value: Double) -> Double { value.isFinite ? value : 0 }
}
