public import PeerEngine

extension PeerInterceptor {
  /// A fault for `Peer.Configuration.interceptors`. If the source of the frames injects it, the interceptor does nothing: see
  /// ``Fault/isInjectedBySource``.
  public static func injecting(_ fault: Fault) -> PeerInterceptor {
    PeerInterceptor(rtp: fault.rtp, connection: fault.connection)
  }
}

extension PeerStatistics {
  /// How often the fault of `PeerInterceptor.injecting(_:)` has been injected for the participant, if the peer has no other
  /// interceptors; 0 when there was no occasion yet.
  public var faultsInjected: UInt64 { interventions }
}
