/// The intervals and timeouts of the agent.
enum ICETiming {
  /// Ta, the interval between two new checks. RFC 8445, 14.2 recommends 50 ms unless the sender has better information.
  /// Browsers check every 48 ms on each of their network paths, so one check every 20 ms is at most what a browser
  /// sends.
  static let checkInterval = Duration.milliseconds(20)

  /// The first retransmission timeout of a check. RFC 8445, 14.3 recommends 500 ms, doubled without a limit: with 30 %
  /// loss that delays the start of a call by seconds. So the agent starts lower and doubles up to a limit, and ends
  /// with the RFC's 39.5 s.
  static let firstTimeout = Duration.milliseconds(200)
  static let maximumTimeout = Duration.milliseconds(1_600)
  static let checkLifetime = Duration.milliseconds(39_500)
  /// The lifetime of a check on another pair than the nominated one: six transmissions, where RFC 8489, 6.2.1 has
  /// seven.
  static let nonNominatedLifetime = Duration.seconds(5)

  /// The retransmission delay of a check after the remote peer has just shown that the path works.
  ///
  /// If the remote peer dropped the check because it had no SDP answer yet, nothing else triggers a retransmission
  /// soon.
  static let triggeredRetransmissionDelay = Duration.milliseconds(20)

  /// How long the controlling side waits for a better pair once it has a valid one: this number of the valid pair's
  /// round trips, within these bounds. A better pair that works usually has a similar round-trip time and has answered
  /// by then.
  static let nominationRoundTrips = 3
  static let nominationDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(100)
  /// A nomination this much later than the current one replaces it, whatever the priorities.
  static let renominationAge = Duration.seconds(6)

  /// The random interval between two consent checks, in milliseconds (RFC 7675, 5.1).
  static let consentMilliseconds: ClosedRange<Int64> = 4_000...6_000
  /// The delay after which an unanswered consent check is followed by an ordinary check with retransmissions.
  static let consentResponseTimeout = Duration.milliseconds(500)
  /// The longest retransmission timeout on the selected pair: with 30 % loss a pair that works answers long before it
  /// counts as disconnected.
  static let maximumSelectedPairRTO = Duration.milliseconds(400)
  /// The time without a response after which the pair counts as disconnected and all others are tried.
  static let disconnectedTimeout = Duration.seconds(8)
  /// The time without a response after which nothing may be sent any more (RFC 7675, 5.1).
  static let consentExpiry = Duration.seconds(30)

  /// How long the agent waits for a valid pair before it fails, whatever the checks say (RFC 8863).
  static let pacTimeout = Duration.seconds(40)

  /// How long the pair on which media was sent before a restart is kept once the new session has a pair.
  static let formerSelectionLifetime = Duration.seconds(10)
}
