package import Media

/// Selects the participants whose video is suspended on a machine that has no time for all of it.
extension PeerDemultiplexer {
  /// How long a participant's video is suspended, and the minimum time for which it is received, before another
  /// participant's video is suspended instead.
  private static let rotationInterval = Duration.seconds(4)

  /// Evaluates the load of the last ``OverloadController/interval``, and suspends the video of as many participants as
  /// the controller requires, in turns; that of one participant is always received.
  ///
  /// - Returns: How many participants' video is suspended, and how many participants send video.
  package func updateOverload(_ load: MachineLoad, now: MonotonicInstant) -> (suspended: Int, senders: Int) {
    overload.update(load)
    if load.datagramsDropped > 0 {
      for engine in engines.values { engine.media.datagramsWereDropped(now: now) }
    }
    if overload.share == 0, !hasSuspendedVideo { return (0, 0) }
    var suspended = engines.values.filter { $0.media.suspension.since != nil }.sorted {
      Self.isLonger($0.media.suspension.since, $1.media.suspension.since)
    }
    var receiving = engines.values.filter { $0.media.suspension.since == nil && $0.sendsVideo }
      .sorted { Self.isLonger($0.media.suspension.lastResumed, $1.media.suspension.lastResumed) }
    let senders = suspended.count + receiving.count
    let wanted = Int((overload.share * Double(senders)).rounded())
    let count = max(0, min(senders - 1, overload.share > 0 ? max(1, wanted) : 0))
    func resume(_ engine: PeerConnection) {
      engine.media.resumeVideo(now: now)
      markForPoll(engine)
    }
    func suspend(_ engine: PeerConnection) {
      engine.media.suspendVideo(now: now)
      markForPoll(engine)
    }
    while suspended.count > count { resume(suspended.removeFirst()) }
    for _ in 0..<max(0, count - suspended.count) where !receiving.isEmpty { suspend(receiving.removeFirst()) }
    // Those whose video has been suspended for longest swap with those whose video has been received for longest.
    for engine in suspended where engine.media.suspension.since.map({ now - $0 >= Self.rotationInterval }) ?? false {
      guard let next = receiving.first,
        next.media.suspension.lastResumed.map({ now - $0 >= Self.rotationInterval }) ?? true
      else {
        break
      }
      receiving.removeFirst()
      resume(engine)
      suspend(next)
    }
    hasSuspendedVideo = count > 0
    return (count, senders)
  }

  /// Returns whether the first has lasted longer than the second; one that has never begun has lasted longest.
  private static func isLonger(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> Bool {
    guard let one else { return other != nil }
    return other.map { one < $0 } ?? false
  }
}
