internal import MediaMessages
internal import MediaWorker

/// A track of the file that is written: its packets one by one, in the order of decoding.
protocol PacketSource: AnyObject {
  var track: ContainerSettings.Track { get }
  /// Returns the next packet; nil at the end.
  func next() throws -> EncodedPacket?
}

extension ContainerWriter {
  /// Writes the packets of all sources, that which is decoded first before the others, and finishes the file.
  ///
  /// - Parameters:
  ///   - sources: in the order of the tracks of the container.
  ///   - progress: called with the time that was reached, in seconds; what it throws ends the writing.
  /// - Returns: the end of the last packet, in seconds.
  @discardableResult
  func write(_ sources: [any PacketSource], progress: (Double) throws -> Void = { _ in }) throws -> Double {
    var next = try sources.map { try $0.next() }
    var (end, reported) = (0.0, 0.0)
    while true {
      var first: (index: Int, time: Double)?
      for (index, packet) in next.enumerated() {
        guard let packet else { continue }
        let time = sources[index].track.seconds(packet.dts)
        if time < first?.time ?? .infinity { first = (index, time) }
      }
      guard let first, let packet = next[first.index] else { break }
      try write(packet, track: first.index)
      end = max(end, sources[first.index].track.seconds(packet.pts + packet.duration))
      if first.time >= reported + 1 {
        reported = first.time
        try progress(reported)
      }
      next[first.index] = try sources[first.index].next()
    }
    try finish()
    return end
  }
}

extension ContainerSettings.Track {
  /// A time of the track in seconds.
  func seconds(_ time: Int64) -> Double { Double(time) * Double(unitNumerator) / Double(unitDenominator) }
}
