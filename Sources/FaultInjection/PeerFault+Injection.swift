public import PeerEngine

extension PeerFault {
  /// A fault for `Peer.Configuration.fault`; nil if the source of the frames injects it, see ``Fault/isInjectedBySource``.
  public static func injecting(_ fault: Fault) -> PeerFault? { fault.injector.map(PeerFault.init) }
}
