import MediaMessages
import MediaWorker

/// A track of the file that is written: its packets one by one, in the order of decoding.
protocol RemuxSource: AnyObject {
  var track: ContainerSettings.Track { get }
  /// Returns the next packet; nil at the end.
  func next() throws(RemuxFailure) -> EncodedPacket?
}

extension ContainerSettings.Track {
  /// A time of the track in seconds, for the order of packets of several tracks.
  func seconds(_ time: Int64) -> Double { Double(time) * Double(unitNumerator) / Double(unitDenominator) }
}
