/// Decides when a check no longer waits for media.
struct MediaWait {
  /// How long a peer may take to offer media in another way if everything else has arrived.
  static let refusedMediaLimit: Duration = .seconds(5)

  private let begin: ContinuousClock.Instant
  private let limit: Duration
  /// Since when only media is missing that we refused.
  private var refusedSince: ContinuousClock.Instant?

  /// Begins to wait.
  ///
  /// - Parameter limit: the maximum time until all expected media flows.
  init(from begin: ContinuousClock.Instant, limit: Duration) {
    self.begin = begin
    self.limit = limit
  }

  /// Returns whether the wait is over.
  ///
  /// - Parameter waitsOnlyForRefusedMedia: whether everything else has arrived.
  mutating func isOver(waitsOnlyForRefusedMedia: Bool, at now: ContinuousClock.Instant) -> Bool {
    let since = refusedSince ?? now
    refusedSince = waitsOnlyForRefusedMedia ? since : nil
    return now - begin >= limit || waitsOnlyForRefusedMedia && now - since >= Self.refusedMediaLimit
  }
}
