/// Estimates the bitrate that the receiver acknowledges, smoothed by the reliability of each sample (libwebrtc's
/// BitrateEstimator).
package struct AcknowledgedBitrateEstimator: Sendable {
  /// The window of the first sample and of later ones, in microseconds of the receiver's clock.
  private static let firstWindow: Int64 = 500_000
  private static let window: Int64 = 150_000

  /// The estimate in bits a second; nil before the first sample.
  package private(set) var bitrate: Double?

  private var variance = 50.0
  private var sum = 0
  private var windowStart: Int64?
  private var last: Int64 = 0

  package init() {}

  package mutating func add(_ packet: SentPacketLog.Arrival) {
    guard let start = windowStart, packet.arrived >= last else {
      windowStart = windowStart ?? packet.arrived
      last = max(last, packet.arrived)
      sum += packet.size
      return
    }
    let length = bitrate == nil ? Self.firstWindow : Self.window
    // After a pause of the sender, the window would consist mostly of silence.
    if packet.arrived - last > length {
      windowStart = packet.arrived
      sum = 0
    } else if packet.arrived - start >= length {
      take(Double(sum) * 8_000 / Double(packet.arrived - start))
      windowStart = packet.arrived
      sum = 0
    }
    last = packet.arrived
    sum += packet.size
  }

  /// - Parameter sample: the sample in kilobits a second.
  private mutating func take(_ sample: Double) {
    guard let bitrate else {
      self.bitrate = sample * 1_000
      return
    }
    let known = bitrate / 1_000
    let uncertainty = 10 * abs(known - sample) / max(1, known)
    let sampleVariance = uncertainty * uncertainty
    let predicted = variance + 5
    let next = (sampleVariance * known + predicted * sample) / (sampleVariance + predicted)
    variance = sampleVariance * predicted / (sampleVariance + predicted)
    self.bitrate = next * 1_000
  }
}
