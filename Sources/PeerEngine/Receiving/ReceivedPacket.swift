package import Media
package import NIOCore

/// What is kept of an RTP packet while it waits for those before it.
package struct ReceivedPacket: Sendable {
  /// Padding excluded; empty in a packet that is nothing else.
  package var payload: ByteBuffer
  /// In ticks of the codec's clock, as it came.
  package var timestamp: UInt32
  package var marker: Bool
  package var arrival: Moment
  /// How long it had been missed when it came after it was asked for; zero when it came by itself.
  package var delay: Duration

  package init(
    payload: ByteBuffer, timestamp: UInt32, marker: Bool, arrival: Moment, delay: Duration = .zero
  ) {
    self.payload = payload
    self.timestamp = timestamp
    self.marker = marker
    self.arrival = arrival
    self.delay = delay
  }
}
