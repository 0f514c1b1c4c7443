package import Media
package import NIOCore
import RTP

/// Makes decodable VP8 frames of a source's packets in order.
package struct VP8Receiver: Sendable {
  // Stored, like everything that is requested with each packet: to compute it, Swift would copy the whole value first.
  /// Whether nothing goes out before the next keyframe.
  package private(set) var needsKeyframe = true
  /// Whether a keyframe is being gathered of which nothing is missing yet.
  package private(set) var isGatheringKeyframe = false

  private var assembler = VP8FrameAssembler()
  private var chain = DecodabilityTracker()

  package init() {}

  package mutating func add(_ packet: ReceivedPacket) {
    assembler.add(packet)
    isGatheringKeyframe = assembler.isGatheringKeyframe
  }

  package mutating func addLost(_ count: Int) {
    assembler.addLost(count)
    isGatheringKeyframe = false
  }

  /// The source ends or changes: what is half there is damaged, and the next keyframe starts again.
  package mutating func finish() {
    assembler.finish()
    isGatheringKeyframe = false
  }

  /// Makes the next keyframe necessary.
  package mutating func restart() {
    chain.restart()
    needsKeyframe = true
  }

  /// Takes the next frame that came to its end, and whether it may go out.
  package mutating func popFrame() -> (frame: VP8FrameAssembler.Frame, isDecodable: Bool)? {
    guard let frame = assembler.popFrame() else { return nil }
    let isDecodable = chain.admit(frame.link)
    needsKeyframe = chain.needsKeyframe
    return (frame, isDecodable)
  }

  /// Whether a payload begins a keyframe that can be used and, if so, its frame's size; nil when it does not.
  ///
  /// - Parameter payload: one RTP payload, descriptor included.
  package static func keyframeStart(in payload: ByteBuffer) -> VideoSize? {
    // Nine packets in ten are given by their first byte: no S bit, or another partition than 0.
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x17 == 0x10 else {
      return nil
    }
    var data = payload
    guard (try? VP8PayloadDescriptor(parsing: &data)) != nil else { return nil }
    return VP8FrameAssembler.keyframeSize(in: data)
  }

  /// Whether a payload begins a frame of any kind.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    payload.getInteger(at: payload.readerIndex, as: UInt8.self).map { $0 & 0x17 == 0x10 } ?? false
  }
}

/// What is kept of an RTP packet while it waits for those before it.
package struct ReceivedPacket: Sendable {
  /// Padding excluded; empty in a packet that is nothing else.
  package var payload: ByteBuffer
  /// In ticks of the codec's clock, as it came.
  package var timestamp: UInt32
  package var marker: Bool
  package var arrival: MonotonicInstant
  /// How long it had been missed when it came after it was requested; zero when it came by itself.
  package var delay: Duration

  package init(
    payload: ByteBuffer, timestamp: UInt32, marker: Bool, arrival: MonotonicInstant, delay: Duration = .zero
  ) {
    self.payload = payload
    self.timestamp = timestamp
    self.marker = marker
    self.arrival = arrival
    self.delay = delay
  }
}
