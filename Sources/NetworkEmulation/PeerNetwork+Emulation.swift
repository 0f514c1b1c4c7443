public import PeerEngine

extension PeerNetwork {
  /// A network with an impairment.
  ///
  /// The event loops of a peer have different seeds: with one seed the first connections of all would have the same losses.
  public static func emulating(_ impairment: Impairment) -> PeerNetwork {
    PeerNetwork { index in
      var impairment = impairment
      impairment.seed &+= UInt64(index) << 32
      return NetworkEmulator(impairment)
    }
  }
}
