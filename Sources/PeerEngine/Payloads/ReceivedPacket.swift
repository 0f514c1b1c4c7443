package import Media
package import NIOCore

/// The fields of an RTP packet that are kept while it is buffered.
package struct ReceivedPacket: Sendable {
  /// The payload without padding; empty in a packet of padding only.
  package var payload: ByteBuffer
  /// The RTP timestamp, in ticks of the codec's clock.
  package var timestamp: UInt32
  package var marker: Bool
  /// The orientation in its header; nil if it has none.
  package var orientation: VideoOrientation?
  package var arrival: MonotonicInstant
  /// How long it had been missing when it arrived after a request; zero if it was never requested.
  package var delay: Duration
  /// The value of the dependency descriptor in its header, if the reader of its codec needs it. An array, because that takes 8 bytes
  /// where there is none.
  package var dependencyDescriptor: [UInt8]?

  package init(
    payload: ByteBuffer, timestamp: UInt32, marker: Bool, arrival: MonotonicInstant, delay: Duration = .zero,
    orientation: VideoOrientation? = nil, dependencyDescriptor: [UInt8]? = nil
  ) {
    self.orientation = orientation
    self.dependencyDescriptor = dependencyDescriptor
    self.payload = payload
    self.timestamp = timestamp
    self.marker = marker
    self.arrival = arrival
    self.delay = delay
  }
}
