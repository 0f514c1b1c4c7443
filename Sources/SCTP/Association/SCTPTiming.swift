/// The intervals and timeouts of an association, where RFC 9260, 16 and dcSCTP differ with the reason.
enum SCTPTiming {
  /// The retransmission timeout before the first measurement. RFC 9260 recommends 1 s; dcSCTP uses half.
  static let initialRTO = Duration.milliseconds(500)
  /// RFC 9260 recommends 1 s. It must exceed the peer's delay of a SACK, 200 ms.
  static let minimumRTO = Duration.milliseconds(400)
  /// RFC 9260 recommends 60 s. After a short outage of the path that would stop a channel for a minute, so backing off
  /// ends where libwebrtc's does.
  static let maximumRTO = Duration.seconds(3)
  /// The minimum time before a probe of the newest chunk: the granularity of timers (RFC 8985, 7.2).
  static let minimumProbeTimeout = Duration.milliseconds(10)
  /// The first timeout of INIT and COOKIE ECHO.
  static let setupTimeout = Duration.milliseconds(500)
  /// How long a SACK may be delayed (RFC 9260, 6.2).
  static let acknowledgementDelay = Duration.milliseconds(200)
  /// HB.interval.
  static let heartbeatInterval = Duration.seconds(30)
  /// Valid.Cookie.Life.
  static let cookieLifetime = Duration.seconds(60)
}
