/// Decides when a check no longer waits for media.
public struct MediaWait: Sendable {
  /// How long a peer may take to offer media in another way if everything else has arrived.
  package static let refusedMediaLimit: Duration = .seconds(5)

  private let begin: ContinuousClock.Instant
  private let limit: Duration
  /// Since when only media is missing that we refused.
  private var refusedSince: ContinuousClock.Instant?

  /// Begins to wait.
  ///
  /// - Parameter limit: the maximum time until all expected media flows.
  public init(from begin: ContinuousClock.Instant, limit: Duration) {
    self.begin = begin
    self.limit = limit
  }

  /// Returns whether the wait is over, because of the time or because only media is missing that we refused.
  ///
  /// - Parameter status: the status of the check, without media so far.
  public mutating func isOver(_ status: CheckStatus, at now: ContinuousClock.Instant) -> Bool {
    isOver(waitsOnlyForRefusedMedia: status.waitsOnlyForRefusedMedia, at: now)
  }

  /// Returns whether the wait is over.
  ///
  /// - Parameter waitsOnlyForRefusedMedia: whether everything else has arrived.
  package mutating func isOver(waitsOnlyForRefusedMedia: Bool, at now: ContinuousClock.Instant) -> Bool {
    let since = refusedSince ?? now
    refusedSince = waitsOnlyForRefusedMedia ? since : nil
    return now - begin >= limit || waitsOnlyForRefusedMedia && now - since >= Self.refusedMediaLimit
  }
}
