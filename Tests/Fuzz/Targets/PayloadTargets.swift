import Bitstream
import BotPeer
import Codecs
import Media
import NIOCore
import RTP

@testable import FileSource

/// What RTP carries: VP8 in pieces, and Opus.
enum PayloadTargets {
  /// The input is treated as one payload, and then for packets: a byte of flags, a length, the payload.
  static func vp8(_ input: [UInt8]) throws(BrokenPromise) {
    let whole = ByteBuffer(bytes: input)
    try descriptor(whole)
    _ = (try? VP8FrameHeader(parsing: whole), VP8Receiver.keyframeStart(in: whole), VP8Receiver.startsFrame(whole))

    var (cursor, receiver, timestamp) = (InputCursor(input), VP8Receiver(), UInt32(0))
    let now = MonotonicInstant.now
    var hasKeyframe = false
    while !cursor.isAtEnd {
      let flags = cursor.byte()
      let payload = cursor.counted()
      if flags & 2 != 0 { timestamp &+= 3_000 }
      receiver.addLost(Int(flags >> 2 & 3))
      receiver.add(ReceivedPacket(payload: payload, timestamp: timestamp, marker: flags & 1 != 0, arrival: now))
      if flags & 0x10 != 0 { receiver.finish() }
      if flags & 0x20 != 0 { receiver.restart() }
      if flags & 0x30 != 0 { hasKeyframe = hasKeyframe && flags & 0x20 == 0 }
      while let (frame, isDecodable) = receiver.popFrame() {
        hasKeyframe = hasKeyframe || frame.link.isKeyframe
        try promise(!isDecodable || hasKeyframe, "A frame before the first keyframe is called decodable.")
        try promise(!isDecodable || frame.link.isComplete, "A damaged frame is called decodable.")
        try promise(
          (frame.size != nil) == frame.link.isKeyframe, "A size is told of what is no keyframe, or none of one.")
        try promise(frame.payload.readableBytes <= VP8FrameAssembler.maximumFrameSize, "A frame is too large.")
        try packetize(frame.payload)
      }
    }
  }

  /// A frame is cut into packets and joined again.
  private static func packetize(_ frame: ByteBuffer) throws(BrokenPromise) {
    var joined = ByteBuffer()
    let pieces = VP8Packetizer(maximumPayloadSize: 100).packetize(
      frame: frame, descriptor: VP8PayloadDescriptor(startsPartition: true, pictureID: .init(7)))
    for (position, piece) in pieces.enumerated() {
      var piece = piece
      guard piece.readableBytes <= 100, let descriptor = try? VP8PayloadDescriptor(parsing: &piece) else {
        throw BrokenPromise("A piece of a frame is too large or cannot be read.")
      }
      try promise(descriptor.startsFrame == (position == 0), "Another piece than the first begins a frame.")
      joined.writeImmutableBuffer(piece)
    }
    try promise(joined == frame, "A frame that was cut into packets comes back otherwise.")
  }

  /// A payload's descriptor is read, written, and read again.
  static func descriptor(_ payload: ByteBuffer) throws(BrokenPromise) {
    var rest = payload
    guard let descriptor = try? VP8PayloadDescriptor(parsing: &rest) else { return }
    try promise(
      descriptor.byteCount + rest.readableBytes == payload.readableBytes, "A descriptor tells a wrong length.")
    var again = written { descriptor.write(into: &$0) }
    try promise(again.readableBytes == descriptor.byteCount, "A descriptor is written with another length.")
    again.writeImmutableBuffer(rest)
    try promise((try? VP8PayloadDescriptor(parsing: &again)) == descriptor, "A descriptor comes back otherwise.")
  }

  /// The most packets that one input is treated as: decoding one takes up to a millisecond.
  private static let maximumPackets = 6

  /// The input is treated as packets behind their lengths. All who read one must agree on how long it plays.
  static func opus(_ input: [UInt8]) throws(BrokenPromise) {
    var cursor = InputCursor(input)
    guard let decoder = try? OpusDecoder(channels: cursor.byte() & 1 == 0 ? 1 : 2) else { return }
    for _ in 0..<maximumPackets where !cursor.isAtEnd {
      let packet = cursor.counted()
      guard let shape = try? OpusPacket(parsing: packet) else {
        try promise((try? decoder.decode(packet)) == nil, "libopus decodes a packet that is refused.")
        continue
      }
      try promise(
        (120...OpusTableOfContents.maximumDuration).contains(shape.duration), "A packet's length is impossible.")
      if shape.carriesCopy { _ = try? decoder.recover(duration: shape.duration, before: packet) }
      if let audio = try? decoder.decode(packet) {
        try promise(audio.count == shape.duration, "A packet of \(shape.duration) ticks plays \(audio.count).")
      }
    }
    _ = try? decoder.conceal(duration: 960)
  }
}
