import Bitstream
package import Media
package import NIOCore
import RTP

/// Assembles the pictures of a VP9 stream from packets, which are passed in order of their sequence numbers (RFC 9628, 4.2).
///
/// A picture has a frame for each spatial layer that is sent, all with one timestamp and one picture id. A layer frame begins
/// with the B bit, a picture with the B bit in its lowest layer, and it ends with the marker bit. All layer frames of a picture
/// become one unit, a superframe with an index if there are several. A picture of which packets are lost is damaged.
///
/// A picture without the marker ends when the next one begins. It is whole if its last packet has the E bit: an encoder that drops
/// the highest layer of a picture to save bits has sent the lower ones without a marker (as libwebrtc does), and a server may not
/// forward that layer. Without the E bit, the rest is missing without a gap in the sequence numbers: see ``EndedFrames``.
package struct VP9FrameAssembler: FrameAssembler {
  package typealias Dependency = VP9DecodabilityTracker.Frame

  /// A picture that is being assembled.
  private struct Open {
    var dependency: VP9DecodabilityTracker.Frame
    var timestamp: UInt32
    var arrival: MonotonicInstant
    var packets = 0
    /// SID of the last packet; nil without layer indices.
    var spatialLayer: UInt8?
    /// Whether the last packet has the E bit.
    var endsFrame = false
  }

  private var open: Open?
  /// The payload of the open picture's packets.
  private var payload = FramePayload()
  /// Where its second and further layer frames begin in `payload`.
  private var boundaries: [Int] = []
  /// The number of packets given up since the last picture that ended.
  private var lost = 0
  /// At most two: one packet can end a picture and be a complete picture itself.
  private var finished: [Frame] = []

  package init() {}

  package var isGatheringKeyframe: Bool {
    if let open { open.dependency.isKeyframe && open.dependency.isComplete } else { false }
  }

  /// Returns the size, if a frame's first bytes are those of a usable keyframe.
  package static func keyframeSize(in frame: ByteBuffer) -> VideoSize? {
    guard let header = try? VP9FrameHeader(parsing: frame), header.isKeyframe, let size = header.size else {
      return nil
    }
    return videoSize(size)
  }

  private static func videoSize(_ size: VP9FrameHeader.Size) -> VideoSize? {
    guard size.width <= FrameLimits.maximumSide, size.height <= FrameLimits.maximumSide else { return nil }
    return VideoSize(width: size.width, height: size.height)
  }

  package mutating func add(_ packet: ReceivedPacket) {
    var data = packet.payload
    // Padding only, or an empty payload: the sequence continues, no picture is affected.
    guard data.readableBytes > 0 else { return }
    guard let descriptor = try? VP9PayloadDescriptor(parsing: &data) else { return addLost(1) }
    if let open, Self.isOther(descriptor, timestamp: packet.timestamp, than: open) {
      // Everything since the open picture's start has arrived, or is known to be lost.
      close(byMarker: false)
    }
    if open == nil {
      begin(descriptor, data: data, packet: packet)
    } else {
      // Packets of one picture on both sides of a loss: all lost packets belonged to it.
      lost = 0
      continueWith(descriptor)
    }
    open?.endsFrame = descriptor.endsFrame
    append(data, arrival: packet.arrival)
    if packet.marker { close(byMarker: true) }
  }

  /// Returns whether a packet belongs to another picture than the open one.
  private static func isOther(_ descriptor: VP9PayloadDescriptor, timestamp: UInt32, than open: Open) -> Bool {
    if timestamp != open.timestamp { return true }
    if let pictureID = descriptor.pictureID, let openID = open.dependency.pictureID, pictureID != openID { return true }
    guard descriptor.startsFrame, let layer = descriptor.layers?.spatial, let last = open.spatialLayer else {
      return false
    }
    return layer <= last
  }

  private mutating func begin(_ descriptor: VP9PayloadDescriptor, data: ByteBuffer, packet: ReceivedPacket) {
    // A server may leave out lower layers on which a frame does not depend. After a loss they may be missing.
    let isUndermost =
      descriptor.startsPicture || lost == 0 && descriptor.layers?.isInterLayerPredicted == false
    let isWhole = descriptor.startsFrame && isUndermost
    open = Open(
      dependency: .init(
        descriptor: descriptor, isKeyframe: isWhole && Self.keyframeSize(in: data) != nil, isComplete: isWhole,
        packetsLostBefore: lost),
      timestamp: packet.timestamp, arrival: packet.arrival, spatialLayer: descriptor.layers?.spatial)
    lost = 0
  }

  /// Continues the open picture with another packet.
  private mutating func continueWith(_ descriptor: VP9PayloadDescriptor) {
    if descriptor.startsFrame {
      // More frames than a superframe can have make it damaged when it ends.
      if boundaries.count < VP9Superframe.maximumFrames { boundaries.append(payload.bytes.readableBytes) }
      if let layers = descriptor.layers, layers.isInterLayerPredicted, layers.spatial != (open?.spatialLayer ?? 0) + 1 {
        // The layer from which it is predicted was not sent.
        open?.dependency.isComplete = false
      }
      open?.dependency.addReferences(of: descriptor)
      open?.spatialLayer = descriptor.layers?.spatial
    } else if open?.spatialLayer != descriptor.layers?.spatial {
      open?.dependency.isComplete = false
    }
  }

  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.dependency.isComplete = false
    lost += count
  }

  package mutating func popFrame() -> Frame? {
    finished.isEmpty ? nil : finished.removeFirst()
  }

  package mutating func discardUnfinished() {
    guard let open, open.dependency.isComplete, !open.endsFrame else { return }
    self.open = nil
    _ = takePayload()
  }

  /// Ends the open picture, which is damaged unless its last layer frame is whole: no more packets of this source follow.
  package mutating func finish() {
    close(byMarker: false)
    lost = 0
  }

  private mutating func append(_ data: ByteBuffer, arrival: MonotonicInstant) {
    if let latest = open?.arrival, arrival > latest { open?.arrival = arrival }
    guard open?.packets ?? 0 < FrameLimits.maximumPackets, payload.reserve(data.readableBytes) else {
      open?.dependency.isComplete = false
      return
    }
    open?.packets += 1
    // Copied at once, so that the datagram's buffer is free for the next one.
    payload.bytes.writeImmutableBuffer(data)
  }

  private mutating func close(byMarker: Bool) {
    guard let ended = open else { return }
    open = nil
    let boundaries = boundaries
    var frame = Self.frame(ended, payload: takePayload(), boundaries: boundaries)
    if !byMarker, !ended.endsFrame {
      frame.isCutOff = ended.dependency.isComplete
      frame.markDamaged()
    }
    finished.append(frame)
  }

  private mutating func takePayload() -> ByteBuffer {
    boundaries = []
    return payload.take()
  }

  private static func frame(_ ended: Open, payload: ByteBuffer, boundaries: [Int]) -> Frame {
    var frame = Frame(
      dependency: ended.dependency, payload: payload, timestamp: ended.timestamp, arrival: ended.arrival)
    guard ended.dependency.isComplete, let superframe = superframe(payload, boundaries: boundaries),
      let headers = headers(of: superframe)
    else {
      frame.markDamaged()
      return frame
    }
    if !boundaries.isEmpty {
      frame.payload = ByteBuffer()
      frame.payload.reserveCapacity(superframe.maximumByteCount)
      superframe.write(into: &frame.payload)
    }
    let isKeyframe = headers.first?.isKeyframe ?? false
    frame.dependency.isKeyframe = isKeyframe
    // The size of a keyframe is that of its highest layer. A frame is hidden if it is only used as a reference.
    frame.header = VideoHeader(
      isKeyframe: isKeyframe, size: isKeyframe ? headers.last?.size.flatMap(videoSize) : nil,
      isShown: headers.contains { $0.isShown })
    return frame
  }

  /// Returns the headers of a picture's frames, with the sizes that are known from the picture alone; nil if they are damaged.
  private static func headers(of superframe: VP9Superframe) -> [VP9FrameHeader]? {
    var references = VP9ReferenceSizes()
    var headers: [VP9FrameHeader] = []
    headers.reserveCapacity(superframe.frames.count)
    for frame in superframe.frames {
      guard let header = try? VP9FrameHeader(parsing: frame, references: references),
        header.size.map({ videoSize($0) != nil }) ?? true
      else { return nil }
      if superframe.frames.count > 1 { references.update(after: header) }
      headers.append(header)
    }
    return headers
  }

  /// Returns all frames of a picture; nil if they are damaged.
  private static func superframe(_ payload: ByteBuffer, boundaries: [Int]) -> VP9Superframe? {
    guard !boundaries.isEmpty else { return try? VP9Superframe(parsing: payload) }
    var frames: [ByteBuffer] = []
    var start = 0
    for end in boundaries + [payload.readableBytes] {
      // A layer frame can be a superframe itself, with a frame that is not shown.
      guard start < end, let layer = payload.getSlice(at: payload.readerIndex + start, length: end - start),
        let parts = try? VP9Superframe(parsing: layer)
      else { return nil }
      frames += parts.frames
      start = end
    }
    return VP9Superframe(frames: frames)
  }
}
