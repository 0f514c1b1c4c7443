internal import BotPeer
internal import Call
internal import JobProtocol
internal import Logging
internal import Media
internal import NIOPosix
internal import Recorder
internal import Synchronization

/// The status of a job, and what follows from it each second.
extension RunningJob {
  private static let interval = Duration.seconds(1)

  /// What the job does now. It asks the threads that receive media, so it has no answer while one of them hangs.
  func status() async -> JobStatus { await sample(isOfSecond: false).status }

  /// Looks each second for users who are stalled, and for services, until the task is cancelled.
  func watch() async {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    while (try? await loop.sleep(for: Self.interval)) != nil {
      endIfAlone()
      let sampler = await sample(isOfSecond: true)
      let (observer, samples) = (state.withLock(\.observer), sampler.peers)
      let stalled = samples.map { peer in
        StallDetector.Sample(
          peer.participant, frames: MediaCounts(peer).frames, isConnected: peer.state == .connected,
          isPaused: sampler.isPaused(peer.participant),
          hasStopped: observer?.hasStopped(peer.participant) ?? false)
      }
      let found = state.withLock { $0.stalls.update(stalled, now: sampler.now) }
      for (user, since) in found {
        let age = Int64((sampler.now - since).seconds * 1_000)
        journal.append(
          .stalled(user: user.text.prefix(utf8Bytes: JobObserver.maximumID), since: sampler.time - age))
        log.warning("media stands still", metadata: ["user": "\(user)"])
      }
    }
  }

  /// Ends the job if no service has been connected for too long.
  private func endIfAlone() {
    guard let limit = specification.orphanLimit else { return }
    let since = state.withLock(\.aloneSince)
    guard let since, MonotonicInstant.now - since >= .milliseconds(limit) else { return }
    end(JobResult(.drained, "No service was connected for \(limit / 1_000) s."))
  }

  /// - Parameter isOfSecond: whether the sums and rates of the job go on from this sample.
  private func sample(isOfSecond: Bool) async -> StatusSampler {
    let call = state.withLock(\.call)
    let peers = await call?.peer.statistics() ?? []
    let recordings = call?.recordingStatus() ?? []
    let progress = call?.recordingProgress()
    let now = MonotonicInstant.now
    let figures = ProcessFigures.read()
    return state.withLock { state in
      if isOfSecond { state.counts.update(peers) }
      var sampler = StatusSampler(
        time: JobClock.now, now: now, phase: state.phase, paused: state.paused, figures: figures, peers: peers,
        recordings: recordings, bytesWritten: progress?.bytes ?? 0, counts: state.counts,
        stalled: state.stalls.stalled, earlier: state.earlier)
      sampler.name = { call?.name(of: $0) }
      sampler.isPaused = { [weak self] in self?.isPaused($0) ?? true }
      if isOfSecond { state.earlier = sampler.next }
      return sampler
    }
  }
}
