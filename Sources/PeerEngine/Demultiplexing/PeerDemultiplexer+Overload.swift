internal import Media

/// Selects the participants whose video is left unread on a machine that has no time for all of it.
extension PeerDemultiplexer {
  /// How long a participant's video is left unread, and the minimum time for which it is read, before it is another
  /// participant's turn.
  private static let turn = Duration.seconds(4)

  /// Evaluates the load of the last ``OverloadController/interval`` and leaves the video of as many participants unread as
  /// the controller requires, in turns; that of one participant is always read.
  ///
  /// - Returns: How many participants' video is left unread, and how many participants send video.
  package func balance(_ load: MachineLoad, now: ContinuousClock.Instant) -> (unread: Int, senders: Int) {
    overload.update(load)
    let now = MonotonicInstant(now)
    if load.datagramsDropped > 0 {
      for engine in engines.values { engine.media.datagramsWereDropped(now: now) }
    }
    if overload.share == 0, !leavesVideoUnread { return (0, 0) }
    var unread = engines.values.filter { $0.unreadSince != nil }.sorted {
      Self.isLonger($0.unreadSince, $1.unreadSince)
    }
    var readers = engines.values.filter { $0.unreadSince == nil && $0.sendsVideo }
      .sorted { Self.isLonger($0.lastUnread, $1.lastUnread) }
    let senders = unread.count + readers.count
    let wanted = Int((overload.share * Double(senders)).rounded())
    let count = max(0, min(senders - 1, overload.share > 0 ? max(1, wanted) : 0))
    func read(_ engine: PeerConnection) {
      engine.readVideo(now: now)
      touch(engine)
    }
    func leave(_ engine: PeerConnection) {
      engine.leaveVideoUnread(now: now)
      touch(engine)
    }
    while unread.count > count { read(unread.removeFirst()) }
    for _ in 0..<max(0, count - unread.count) where !readers.isEmpty { leave(readers.removeFirst()) }
    // Those whose video has been unread for longest swap with those whose video has been read for longest.
    for engine in unread where engine.unreadSince.map({ now - $0 >= Self.turn }) ?? false {
      guard let next = readers.first, next.lastUnread.map({ now - $0 >= Self.turn }) ?? true else { break }
      readers.removeFirst()
      read(engine)
      leave(next)
    }
    leavesVideoUnread = count > 0
    return (count, senders)
  }

  /// Returns whether the first has lasted longer than the second; one that has never begun has lasted longest.
  private static func isLonger(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> Bool {
    guard let one else { return other != nil }
    return other.map { one < $0 } ?? false
  }
}
