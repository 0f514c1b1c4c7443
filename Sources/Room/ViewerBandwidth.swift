package import Media

/// The bandwidth and loss of all viewers' network paths.
package struct ViewerBandwidth: Sendable {
  package struct PathEstimate: Sendable, Hashable {
    /// In bits per second.
    package var bitrate: Int
    /// The fraction of packets lost, 0 to 1.
    package var fractionLost: Double

    package init(bitrate: Int, fractionLost: Double) {
      self.bitrate = bitrate
      self.fractionLost = fractionLost
    }
  }

  private var estimates: [ParticipantID: PathEstimate] = [:]

  package init() {}

  package mutating func set(_ estimate: PathEstimate, of viewer: ParticipantID) { estimates[viewer] = estimate }

  package mutating func remove(_ viewer: ParticipantID) { estimates[viewer] = nil }

  /// The bandwidth to encode for, or nil without a viewer: the lowest bitrate and the highest loss of any viewer, but at
  /// least half the bitrate, and at most twice the loss plus 5 %, of the median viewer.
  ///
  /// The values come from each viewer's feedback (REMB, transport-cc, receiver reports), so false feedback costs the
  /// other viewers no more than that. A viewer with less bandwidth than the encoder uses gets fewer frames. Of two
  /// viewers in the middle, the one with the better path counts.
  package var common: PathEstimate? { Self.common(of: all) }

  /// The bandwidths of all viewers.
  package var all: [PathEstimate] { Array(estimates.values) }

  /// Computes ``common`` for several sets of viewers.
  package static func common(of estimates: [PathEstimate]) -> PathEstimate? {
    let bitrates = estimates.map(\.bitrate).sorted()
    let losses = estimates.map(\.fractionLost).sorted()
    guard let least = bitrates.first, let most = losses.last else { return nil }
    let bitrate = bitrates[bitrates.count / 2]
    let lost = losses[(losses.count - 1) / 2]
    return PathEstimate(
      bitrate: max(least, bitrate / 2),
      fractionLost: losses.count == 1 ? most : min(most, lost * 2 + 0.05))
  }
}
