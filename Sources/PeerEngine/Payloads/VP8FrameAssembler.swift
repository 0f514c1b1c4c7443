import Bitstream
package import Media
package import NIOCore
import RTP

/// Assembles VP8 frames from packets, which are passed in order of their sequence numbers (RFC 7741, 4.4).
///
/// A frame begins with the S bit in partition 0 and ends with the marker bit. A sender that never sets the marker ends a
/// frame by beginning the next one. If a sender that does set it begins the next frame without a marker, it has dropped the
/// rest of the previous one without a gap in the sequence numbers, as libwebrtc does with packets in its pacer when a
/// keyframe arrives. Which kind of sender it is stays undecided after a first frame without a marker, until the next frame
/// ends. Losses are reported between the packets, and leave a damaged frame on either side, or none.
package struct VP8FrameAssembler: FrameAssembler {
  package typealias Dependency = VP8DecodabilityTracker.Frame

  /// A frame that is being assembled.
  private struct Open {
    var descriptor: VP8PayloadDescriptor
    var timestamp: UInt32
    var arrival: MonotonicInstant
    var packetsLostBefore: Int
    var isComplete: Bool
    /// The header, if it is in the first packet, as almost always; nil if it cannot be used.
    var header: VideoHeader?
  }

  /// A frame with more bytes than this is damaged: no encoder makes it, and a receiver's memory must be bounded.
  package static let maximumFrameSize = 4 << 20
  /// No encoder makes a frame of more packets either: with 1,200 bytes in each it would far exceed the maximum size.
  package static let maximumPackets = 8_192

  /// The maximum number of bytes that are reserved in advance: the size of a larger frame says little about the next one.
  private static let usualSize = 16 << 10

  /// A keyframe that is wider or higher, in pixels, is damaged, and so is one of size zero: 14 bits can encode
  /// 16,383x16,383, for which a decoder would allocate 400 MB.
  package static let maximumSide = 4_096

  private var open: Open?
  /// The payload of the open frame's packets.
  private var payload = ByteBuffer()
  private var packets = 0
  /// The size of the last frame in bytes, which the next one is likely to have as well.
  private var lastSize = 0
  /// The number of packets given up since the last frame that ended.
  private var lost = 0
  /// Whether the sender ends frames with the marker; nil while unknown.
  private var setsMarkers: Bool?
  /// A frame that is complete if the sender sets no markers.
  private var undecided: Frame?
  /// At most three: one packet can end a frame, decide about the frame before it, and be a complete frame itself.
  private var finished: [Frame] = []

  package init() {}

  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package var isGatheringKeyframe: Bool {
    if let open, open.isComplete, open.header?.isKeyframe == true { return true }
    return undecided?.dependency.isKeyframe ?? false
  }

  /// Returns the frame's size, if a frame's first bytes are those of a usable keyframe.
  package static func keyframeSize(in frame: ByteBuffer) -> VideoSize? { header(of: frame)?.size }

  /// Parses the header of a frame; nil if it is none, or that of a keyframe with an unusable size.
  private static func header(of frame: ByteBuffer) -> VideoHeader? {
    guard let header = (try? VP8FrameHeader(parsing: frame)).flatMap(VideoHeader.init) else { return nil }
    if let size = header.size, size.width > maximumSide || size.height > maximumSide { return nil }
    return header
  }

  /// Adds the next packet; call ``popFrame()`` for the frames that end with it or before it.
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

  /// Notes that the next `count` packets were given up.
  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.isComplete = false
    lost += count
  }

  /// Removes and returns the next frame that has ended, in order.
  package mutating func popFrame() -> Frame? {
    finished.isEmpty ? nil : finished.removeFirst()
  }

  /// Discards a frame whose end has not arrived, if nothing before that is missing: the call ended while it was sent, so
  /// it is neither lost nor damaged.
  package mutating func discardUnfinished() {
    guard open?.isComplete ?? true else { return }
    open = nil
    undecided = nil
    _ = takePayload()
  }

  /// Ends the open frame as damaged: no more packets of this source follow.
  package mutating func finish() {
    open?.isComplete = false
    close(byMarker: false)
    releaseUndecided(isWhole: false)
    setsMarkers = nil
    lost = 0
  }

  private mutating func append(_ data: ByteBuffer, arrival: MonotonicInstant) {
    if let latest = open?.arrival, arrival > latest { open?.arrival = arrival }
    guard payload.readableBytes + data.readableBytes <= Self.maximumFrameSize, packets < Self.maximumPackets else {
      open?.isComplete = false
      return
    }
    if packets == 0 { payload.reserveCapacity(max(min(lastSize, Self.usualSize), data.readableBytes)) }
    packets += 1
    // Copied at once, so that the datagram's buffer is free for the next one.
    payload.writeImmutableBuffer(data)
  }

  private mutating func close(byMarker: Bool) {
    guard let ended = open else { return }
    open = nil
    var frame = Self.frame(ended, payload: takePayload())
    if byMarker {
      setsMarkers = true
      releaseUndecided(isWhole: false)
    } else if setsMarkers == true {
      frame.isCutOff = frame.dependency.isComplete
      frame.markDamaged()
    } else if !frame.dependency.isComplete {
      // A damaged frame does not show whether the sender sets markers, and a frame must not be emitted whose end may be
      // missing.
      releaseUndecided(isWhole: false)
    } else if setsMarkers == nil, undecided == nil {
      undecided = frame
      return
    } else {
      setsMarkers = false
      releaseUndecided(isWhole: true)
    }
    finished.append(frame)
  }

  private mutating func releaseUndecided(isWhole: Bool) {
    guard var frame = undecided else { return }
    undecided = nil
    if !isWhole {
      frame.isCutOff = true
      frame.markDamaged()
    }
    finished.append(frame)
  }

  private static func frame(_ ended: Open, payload: ByteBuffer) -> Frame {
    // The first packet can be too short for the header.
    let header = ended.isComplete ? ended.header ?? header(of: payload) : nil
    return Frame(
      dependency: .init(
        descriptor: ended.descriptor, isKeyframe: header?.isKeyframe ?? false, isComplete: header != nil,
        packetsLostBefore: ended.packetsLostBefore),
      payload: payload, header: header, timestamp: ended.timestamp, arrival: ended.arrival)
  }

  private mutating func takePayload() -> ByteBuffer {
    lastSize = payload.readableBytes
    packets = 0
    defer { payload = ByteBuffer() }
    return payload
  }
}
