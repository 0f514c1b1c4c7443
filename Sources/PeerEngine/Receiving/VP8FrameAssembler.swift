import Bitstream
package import Media
package import NIOCore
import RTP

/// Joins the packets of VP8 frames, handed to it in order of their sequence numbers (RFC 7741, 4.4).
///
/// A frame begins with the S bit in partition 0 and ends with the marker bit. A sender that never sets a marker ends it by
/// beginning the next one; one that does has given up the rest of a frame that has none, as libwebrtc does with what still
/// waits in its pacer when a keyframe comes, and without a hole in the numbers. Which of them it is, a first frame without
/// a marker leaves open until the next one ends. What is lost is told between the packets, and leaves a damaged frame on
/// either side, or none.
package struct VP8FrameAssembler: Sendable {
  /// A frame that came to its end, whole or not.
  package struct Frame: Sendable {
    /// What the decodability chain has to know.
    package var link: DecodabilityTracker.Frame
    /// The bitstream; incomplete when the link says so.
    package var payload: ByteBuffer
    /// A keyframe's video size.
    package var size: VideoSize?
    package var timestamp: UInt32
    /// When its last packet came.
    package var arrival: MonotonicInstant

    fileprivate mutating func spoil() {
      link.isComplete = false
      link.isKeyframe = false
      size = nil
    }
  }

  /// A frame being gathered.
  private struct Open {
    var descriptor: VP8PayloadDescriptor
    var timestamp: UInt32
    var arrival: MonotonicInstant
    var packetsLostBefore: Int
    var isComplete: Bool
    /// By its first bytes.
    var isKeyframe: Bool
  }

  /// A frame with more bytes than this is damaged: no encoder makes it, and a receiver must not grow without bound.
  package static let maximumFrameSize = 4 << 20
  /// Nor does any make one of so many packets: 1,200 bytes in each would be far beyond the size.
  package static let maximumPackets = 8_192

  /// Memory is set aside beforehand for no more bytes than this: what one frame has tells little of the next one then.
  private static let usualSize = 16 << 10

  /// A keyframe whose frame is wider or higher, in pixels, is damaged, and so is one of no size: 14 bits can say
  /// 16,383x16,383, for which a decoder would set aside 400 MB.
  package static let maximumSide = 4_096

  private var open: Open?
  /// What the open frame's packets brought.
  private var payload = ByteBuffer()
  private var packets = 0
  /// Bytes of the last frame, which the next one is likely to have as well.
  private var lastSize = 0
  /// Packets given up since the last frame that ended.
  private var lost = 0
  /// Whether the sender ends frames with the marker; nil as long as nobody knows.
  private var setsMarkers: Bool?
  /// A frame that is whole if the sender sets no markers.
  private var undecided: Frame?
  /// At most three: one packet can end a frame, decide about the one before it, and be a whole one itself.
  private var finished: [Frame] = []

  package init() {}

  /// Whether a keyframe is being gathered of which nothing is missing yet.
  package var isGatheringKeyframe: Bool {
    if let open, open.isKeyframe, open.isComplete { return true }
    return undecided?.link.isKeyframe ?? false
  }

  /// The frame's size, if a frame's first bytes are those of a keyframe that can be used.
  package static func keyframeSize(in frame: ByteBuffer) -> VideoSize? {
    (try? VP8FrameHeader(parsing: frame)).flatMap(size(in:))
  }

  private static func size(in header: VP8FrameHeader) -> VideoSize? {
    guard let size = header.size, (1...maximumSide).contains(Int(size.width)),
      (1...maximumSide).contains(Int(size.height))
    else { return nil }
    return VideoSize(width: Int(size.width), height: Int(size.height))
  }

  /// Adds the next packet; take the frames that end with it or before it by ``popFrame()``.
  package mutating func add(_ packet: ReceivedPacket) {
    var data = packet.payload
    // Padding only, or a payload that says nothing: the sequence continues, no frame is touched.
    guard data.readableBytes > 0 else { return }
    guard let descriptor = try? VP8PayloadDescriptor(parsing: &data) else { return addLost(1) }
    if descriptor.startsFrame || open.map({ $0.timestamp != packet.timestamp }) ?? false {
      // Everything since the open frame's start has come, or is known to be lost.
      close(byMarker: false)
    }
    if open != nil {
      // Packets of one frame on both sides of a loss: all that was lost belonged to it.
      lost = 0
    } else {
      open = Open(
        descriptor: descriptor, timestamp: packet.timestamp, arrival: packet.arrival, packetsLostBefore: lost,
        isComplete: descriptor.startsFrame,
        isKeyframe: descriptor.startsFrame && Self.keyframeSize(in: data) != nil)
      lost = 0
    }
    append(data, arrival: packet.arrival)
    if packet.marker { close(byMarker: true) }
  }

  /// Takes note that the next `count` packets were given up.
  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.isComplete = false
    lost += count
  }

  /// Takes the next frame that came to its end, in order.
  package mutating func popFrame() -> Frame? {
    finished.isEmpty ? nil : finished.removeFirst()
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
    // Copied at once, so that the datagram's memory is free for the next one.
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
      frame.spoil()
    } else if !frame.link.isComplete {
      // It tells nothing of the sender, and a frame must not go out that may lack its end.
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
    if !isWhole { frame.spoil() }
    finished.append(frame)
  }

  private static func frame(_ ended: Open, payload: ByteBuffer) -> Frame {
    var isComplete = ended.isComplete
    var isKeyframe = false
    var videoSize: VideoSize?
    if isComplete {
      if let header = try? VP8FrameHeader(parsing: payload) {
        videoSize = size(in: header)
        isKeyframe = videoSize != nil
        isComplete = isKeyframe == header.isKeyframe
      } else {
        isComplete = false
      }
    }
    return Frame(
      link: .init(
        descriptor: ended.descriptor, isKeyframe: isKeyframe, isComplete: isComplete,
        packetsLostBefore: ended.packetsLostBefore),
      payload: payload, size: videoSize, timestamp: ended.timestamp, arrival: ended.arrival)
  }

  private mutating func takePayload() -> ByteBuffer {
    lastSize = payload.readableBytes
    packets = 0
    defer { payload = ByteBuffer() }
    return payload
  }
}
