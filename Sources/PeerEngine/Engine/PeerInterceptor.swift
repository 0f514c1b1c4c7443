/// What stands between the connections of a peer and its participants. Each connection has its own copy.
///
/// ```swift
/// configuration.interceptors = [PeerInterceptor(rtp: FrozenTimestamps())]
/// ```
///
/// The library `FaultInjection` makes interceptors that inject a fault: `PeerInterceptor.injecting(.slowAnswer)`.
public struct PeerInterceptor: Sendable {
  package var rtp: (any RTPInterceptor)?
  package var connection: (any ConnectionInterceptor)?

  /// Intercepts the RTP packets that are sent to participants.
  public init(rtp: some RTPInterceptor) {
    self.rtp = rtp
  }

  package init(rtp: (any RTPInterceptor)? = nil, connection: (any ConnectionInterceptor)?) {
    self.rtp = rtp
    self.connection = connection
  }
}
