import Bitstream
package import Media
package import NIOCore
import RTP

/// Assembles VP8 frames from packets, which are passed in order of their sequence numbers (RFC 7741, 4.4).
///
/// A frame begins with the S bit in partition 0 and ends with the marker bit; ``EndedFrames`` says what follows without it. Losses are
/// reported between the packets, and leave a damaged frame on either side, or none.
package struct VP8FrameAssembler: FrameAssembler {
  package typealias Dependency = VP8DecodabilityTracker.Frame

  /// A frame that is being assembled.
  private struct Open {
    var descriptor: VP8PayloadDescriptor
    var timestamp: UInt32
    var arrival: MonotonicInstant
    var packetsLostBefore: Int
    var packets = 0
    var isComplete: Bool
    /// The header, if it is in the first packet, as almost always; nil if it cannot be used.
    var header: VideoHeader?
  }

  private var open: Open?
  /// The payload of the open frame's packets.
  private var payload = FramePayload()
  /// The number of packets given up since the last frame that ended.
  private var lost = 0
  private var ended = EndedFrames<Dependency>()

  package init() {}

  package var isGatheringKeyframe: Bool {
    // Members of `open` one by one, because Swift would copy the whole value to bind it.
    if open?.isComplete ?? false, open?.header?.isKeyframe ?? false { return true }
    return ended.holdsKeyframe
  }

  /// Returns the frame's size, if a frame's first bytes are those of a usable keyframe.
  package static func keyframeSize(in frame: ByteBuffer) -> VideoSize? { header(of: frame)?.size }

  /// Parses the header of a frame; nil if it is none, or that of a keyframe with an unusable size.
  private static func header(of frame: ByteBuffer) -> VideoHeader? {
    guard let header = (try? VP8FrameHeader(parsing: frame)).flatMap(VideoHeader.init) else { return nil }
    if let size = header.size, size.width > FrameLimits.maximumSide || size.height > FrameLimits.maximumSide {
      return nil
    }
    return header
  }

  package mutating func add(_ packet: ReceivedPacket) {
    var data = packet.payload
    // Padding only, or an empty payload: the sequence continues, no frame is affected.
    guard data.readableBytes > 0 else { return }
    guard let descriptor = try? VP8PayloadDescriptor(parsing: &data) else { return addLost(1) }
    if descriptor.startsFrame || open.map({ $0.timestamp != packet.timestamp }) ?? false {
      // Everything since the open frame's start has arrived, or is known to be lost.
      close(byMarker: false)
    }
    if open != nil {
      // Packets of one frame on both sides of a loss: all lost packets belonged to it.
      lost = 0
    } else {
      open = Open(
        descriptor: descriptor, timestamp: packet.timestamp, arrival: packet.arrival, packetsLostBefore: lost,
        isComplete: descriptor.startsFrame, header: descriptor.startsFrame ? Self.header(of: data) : nil)
      lost = 0
    }
    append(data, arrival: packet.arrival)
    if packet.marker { close(byMarker: true) }
  }

  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.isComplete = false
    lost += count
  }

  package mutating func popFrame() -> Frame? { ended.popFrame() }

  package mutating func discardUnfinished() {
    guard open?.isComplete ?? true else { return }
    open = nil
    ended.discardUndecided()
    _ = payload.take()
  }

  /// Ends the open frame as damaged: no more packets of this source follow.
  package mutating func finish() {
    open?.isComplete = false
    close(byMarker: false)
    ended.finish()
    lost = 0
  }

  private mutating func append(_ data: ByteBuffer, arrival: MonotonicInstant) {
    if let latest = open?.arrival, arrival > latest { open?.arrival = arrival }
    guard open?.packets ?? 0 < FrameLimits.maximumPackets, payload.reserve(data.readableBytes) else {
      open?.isComplete = false
      return
    }
    open?.packets += 1
    // Copied at once, so that the datagram's buffer is free for the next one.
    payload.bytes.writeImmutableBuffer(data)
  }

  private mutating func close(byMarker: Bool) {
    guard let open else { return }
    self.open = nil
    let frame = Self.frame(open, payload: payload.take())
    ended.add(frame, byMarker: byMarker, isWholeSoFar: frame.dependency.isComplete)
  }

  private static func frame(_ open: Open, payload: ByteBuffer) -> Frame {
    // The first packet can be too short for the header.
    let header = open.isComplete ? open.header ?? header(of: payload) : nil
    return Frame(
      dependency: .init(
        descriptor: open.descriptor, isKeyframe: header?.isKeyframe ?? false, isComplete: header != nil,
        packetsLostBefore: open.packetsLostBefore),
      payload: payload, header: header, timestamp: open.timestamp, arrival: open.arrival)
  }
}
