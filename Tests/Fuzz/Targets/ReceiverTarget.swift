import Bitstream
import Media
import NIOCore
import PeerEngine

/// Receivers of video: what holds for the frames of all codecs.
enum ReceiverTarget {
  /// Parses the input as one payload, and then as packets: a byte of flags, a dependency descriptor if the codec needs it and a flag says
  /// so, and the payload, both after their lengths.
  ///
  /// - Parameters:
  ///   - describes: whether a flag makes the payload that of a description; otherwise it discards an unfinished frame.
  ///   - added: by how many bytes a receiver can make a frame longer.
  ///   - checkPayload: what holds for a codec's payloads.
  ///   - check: what holds for a codec's frames in addition.
  static func run<Receiver: VideoReceiver>(
    _ input: [UInt8], _: Receiver.Type, describes: Bool = false, added: Int = 0,
    checkPayload: (_ payload: ByteBuffer) throws(InvariantViolation) -> Void = { _ in },
    check: (_ frame: Receiver.Assembler.Frame, _ isDecodable: Bool) throws(InvariantViolation) -> Void
  ) throws(InvariantViolation) {
    func readAlone(_ payload: ByteBuffer) throws(InvariantViolation) {
      _ = (Receiver.keyframeStart(in: payload), Receiver.startsFrame(payload))
      try checkPayload(payload)
    }
    try readAlone(ByteBuffer(bytes: input))

    var (cursor, receiver, timestamp) = (InputCursor(input), Receiver(parameterSets: []), UInt32(0))
    let now = MonotonicInstant.now
    var hasKeyframe = false
    while !cursor.isAtEnd {
      let flags = cursor.byte()
      let hasDescriptor = Receiver.usesDependencyDescriptor && flags & 0x40 != 0
      let descriptor = hasDescriptor ? Array(cursor.counted().readableBytesView) : nil
      let payload = cursor.counted()
      try readAlone(payload)
      if flags & 2 != 0 { timestamp &+= 3_000 }
      if flags & 0x80 != 0, describes { receiver.setDescribed([payload]) }
      receiver.addLost(Int(flags >> 2 & 3))
      receiver.add(
        ReceivedPacket(
          payload: payload, timestamp: timestamp, marker: flags & 1 != 0, arrival: now,
          dependencyDescriptor: descriptor))
      if flags & 0x10 != 0 { receiver.finish() }
      if flags & 0x20 != 0 {
        receiver.restart()
        hasKeyframe = false
      }
      if flags & 0x80 != 0, !describes { receiver.discardUnfinished() }
      while let (frame, isDecodable) = receiver.popFrame() {
        hasKeyframe = hasKeyframe || frame.dependency.isKeyframe
        try require(!isDecodable || hasKeyframe, "A frame before the first keyframe is reported as decodable.")
        try require(!isDecodable || frame.dependency.isComplete, "A damaged frame is reported as decodable.")
        try require(!isDecodable || frame.header != nil, "A decodable frame has no header.")
        try require(frame.size != nil || !frame.dependency.isKeyframe, "A keyframe has no size.")
        try require(frame.payload.readableBytes <= FrameLimits.maximumSize + added, "A frame is too large.")
        try check(frame, isDecodable)
      }
    }
  }

  /// Splits a frame of NAL units into packets and joins them again.
  ///
  /// - Parameters:
  ///   - payloads: those of the packets, of at most 100 bytes.
  ///   - sent: the units that are sent.
  static func join<Format: NALUnitFrameFormat>(
    _ payloads: [ByteBuffer], _: Format.Type, sent: [ByteBuffer]
  ) throws(InvariantViolation) {
    var units: [ByteBuffer] = []
    var open = ByteBuffer()
    for payload in payloads {
      try require(payload.readableBytes <= 100, "A piece of a frame is too large.")
      switch Format.content(of: payload) {
      case .unit(let unit, _): units.append(unit)
      case .aggregation(let several): units += several
      case .fragment(let fragment):
        if fragment.isFirst {
          let header = ByteBuffer(integer: fragment.header)
          open = ByteBuffer(bytes: header.readableBytesView.suffix(Format.headerSize))
        }
        open.writeImmutableBuffer(fragment.bytes)
        if fragment.isLast { units.append(open) }
      case nil: throw InvariantViolation("A piece of a frame cannot be read.")
      }
    }
    try require(units == sent, "A packetized frame does not round-trip.")
  }
}
