/// The intervals and timeouts of the TURN client.
enum TURNTiming {
  /// The first retransmission timeout over UDP (RFC 8489, 6.2.1), doubled up to a limit, so that a request has seven
  /// transmissions within its lifetime and a restarted server receives one soon.
  static let firstTimeout = Duration.milliseconds(500)
  static let maximumTimeout = Duration.milliseconds(1_600)
  /// The lifetime of a request over UDP: shorter than the 39.5 s of RFC 8489, because a call waits for it.
  static let requestLifetime = Duration.seconds(8)
  /// The lifetime of a request on a stream, which is transmitted once.
  static let streamRequestLifetime = Duration.seconds(10)

  /// A Refresh request is sent when the server has sent nothing for this time. The response shows that the server lives
  /// and still knows the allocation.
  static let keepalive = Duration.seconds(5)
  /// The same while the client sends data: a peer that receives media answers it at least each second.
  static let activeKeepalive = Duration.seconds(2)
  /// The allocation is lost if the server sends nothing for this time after that request.
  static let keepaliveLifetime = Duration.seconds(5)
  /// The request of the keepalive is retransmitted at this interval, because few of ten transmissions are lost.
  static let keepaliveTimeout = Duration.milliseconds(500)

  /// The lifetime that the client requests, in seconds; that of RFC 8656, 7.1.
  static let requestedLifetime: UInt32 = 600
  /// What a server may grant; longer lifetimes count as this (RFC 8656, 7.2 recommends at most an hour).
  static let maximumLifetime: UInt32 = 3_600
  /// An allocation is refreshed this long before its end, or at half of a shorter lifetime.
  static let refreshMargin = Duration.seconds(60)
  /// The shortest time between two such refreshes, whatever the server grants.
  static let minimumRefresh = Duration.seconds(5)

  /// RFC 8656, 9 and 12: a permission lasts 5 minutes, a channel binding 10 minutes.
  static let permissionLifetime = Duration.seconds(300)
  static let permissionRefresh = Duration.seconds(240)
  static let channelLifetime = Duration.seconds(600)
  static let channelRefresh = Duration.seconds(510)
  /// A channel number is not bound to another peer until this long after its binding expired (RFC 8656, 12).
  static let channelReuse = Duration.seconds(300)
  /// Permissions and channels that were not used for this long are not refreshed.
  static let idle = Duration.seconds(300)
  /// A peer whose permission or channel was refused is not requested again for this long.
  static let refusal = Duration.seconds(60)
  /// The same after a request that was not answered.
  static let retry = Duration.seconds(2)

  /// A channel is bound to a peer that was sent this many datagrams within this time.
  static let mediaDatagrams = 8
  static let mediaWindow = Duration.seconds(1)

  /// The pause before a new allocation: doubled after each failure.
  static let firstPause = Duration.milliseconds(500)
  static let maximumPause = Duration.seconds(30)
  /// The limit of the pause within `returnWindow` after a loss, so that the client is back soon after the server.
  static let maximumReturnPause = Duration.seconds(4)
  static let returnWindow = Duration.seconds(300)
  /// An allocation that lasted this long resets the pause.
  static let stableAllocation = Duration.seconds(30)

  /// How long the end of an allocation waits for the answer.
  static let leaving = Duration.seconds(2)
}
