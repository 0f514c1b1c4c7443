/// How long the agent waits for what.
enum ICETiming {
  /// Ta, the pause between two new checks. RFC 8445, 14.2 requests 50 ms unless the sender knows better; browsers check
  /// every 48 ms on each of their paths, so one every 20 ms is at most what comes from there.
  static let checkInterval = Duration.milliseconds(20)

  /// The first retransmission timeout of a check. RFC 8445, 14.3 requests 500 ms and doubling without an end: with 30 %
  /// loss that makes a call start seconds late. So it starts lower and doubles up to a limit, and ends with the
  /// RFC's 39.5 s.
  static let firstTimeout = Duration.milliseconds(200)
  static let maximumTimeout = Duration.milliseconds(1_600)
  static let checkLifetime = Duration.milliseconds(39_500)
  /// The same for a pair besides the agreed one: six transmissions, where RFC 8489, 6.2.1 has seven.
  static let besidesLifetime = Duration.seconds(5)

  /// A check that the other side has just shown to be possible is sent again this long after it was last sent.
  ///
  /// Where the other side had no answer of ours yet when it dropped the check, nothing else makes it come again.
  static let hurriedTimeout = Duration.milliseconds(20)

  /// How long the controlling side looks for a better pair once it has a valid one: so many round trips of the pair that works,
  /// within these bounds. A better pair that works is as a rule as near, and has answered by then.
  static let nominationRoundTrips = 3
  static let nominationDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(100)
  /// A nomination this much younger than the one in force replaces it, whatever the priorities.
  static let renominationAge = Duration.seconds(6)

  /// Consent is requested at random points of this range, in milliseconds, after the last time (RFC 7675, 5.1).
  static let consentMilliseconds: ClosedRange<Int64> = 4_000...6_000
  /// An unanswered question for consent is followed by an ordinary check, which is sent again and again.
  static let consentDoubt = Duration.milliseconds(500)
  /// How often at least: with 30 % loss a pair that works is answered long before it counts as disconnected.
  static let maximumDoubtTimeout = Duration.milliseconds(400)
  /// Without an answer for this long the pair counts as disconnected, and all others are tried.
  static let silence = Duration.seconds(8)
  /// Without an answer for this long nothing may be sent any more (RFC 7675, 5.1).
  static let consentExpiry = Duration.seconds(30)

  /// How long to continue without a valid pair before giving up, whatever the checks say (RFC 8863).
  static let patience = Duration.seconds(40)

  /// How long the paths from before a restart stay open once the new session has a pair.
  static let retirement = Duration.seconds(10)
}
