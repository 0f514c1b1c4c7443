import Bitstream
import BotPeer
import Codecs
import FileSource
import Media
import NIOCore
import RTP

/// RTP payloads: fragments of VP8 frames, and Opus.
enum PayloadTargets {
  /// Parses the input as one payload, and then as packets.
  static func vp8(_ input: [UInt8]) throws(InvariantViolation) {
    _ = try? VP8FrameHeader(parsing: ByteBuffer(bytes: input))
    try ReceiverTarget.run(input, VP8Receiver.self, checkPayload: descriptor) {
      frame, _ throws(InvariantViolation) in
      try require(frame.size == nil || frame.dependency.isKeyframe, "A delta frame has a size.")
      try packetize(frame.payload)
    }
  }

  /// Splits a frame into packets and joins them again.
  private static func packetize(_ frame: ByteBuffer) throws(InvariantViolation) {
    var joined = ByteBuffer()
    let pieces = VP8Packetizer(maximumPayloadSize: 100).packetize(
      frame: frame, descriptor: VP8PayloadDescriptor(startsPartition: true, pictureID: .init(7)))
    for (position, piece) in pieces.enumerated() {
      var piece = piece
      guard piece.readableBytes <= 100, let descriptor = try? VP8PayloadDescriptor(parsing: &piece) else {
        throw InvariantViolation("A piece of a frame is too large or cannot be read.")
      }
      try require(descriptor.startsFrame == (position == 0), "Only the first piece must start the frame.")
      joined.writeImmutableBuffer(piece)
    }
    try require(joined == frame, "A packetized frame does not round-trip.")
  }

  /// Parses, writes and parses a payload descriptor again.
  static func descriptor(_ payload: ByteBuffer) throws(InvariantViolation) {
    var rest = payload
    guard let descriptor = try? VP8PayloadDescriptor(parsing: &rest) else { return }
    try require(
      descriptor.byteCount + rest.readableBytes == payload.readableBytes, "A descriptor reports a wrong length.")
    var again = written { descriptor.write(into: &$0) }
    try require(again.readableBytes == descriptor.byteCount, "A descriptor changes its length when written.")
    again.writeImmutableBuffer(rest)
    try require((try? VP8PayloadDescriptor(parsing: &again)) == descriptor, "A descriptor does not round-trip.")
  }

  /// The maximum number of packets in one input: decoding one takes up to a millisecond.
  private static let maximumPackets = 6

  /// Parses the input as packets that follow their lengths. All parsers must agree on a packet's duration.
  static func opus(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    guard let decoder = try? OpusDecoder(channels: cursor.byte() & 1 == 0 ? 1 : 2) else { return }
    for _ in 0..<maximumPackets where !cursor.isAtEnd {
      let packet = cursor.counted()
      guard let shape = try? OpusPacket(parsing: packet) else {
        try require((try? decoder.decode(packet)) == nil, "libopus decodes a packet that our parser rejects.")
        continue
      }
      try require(
        (120...OpusTableOfContents.maximumDuration).contains(shape.duration), "A packet's duration is impossible.")
      if shape.carriesCopy { _ = try? decoder.recover(duration: shape.duration, before: packet) }
      if let audio = try? decoder.decode(packet) {
        try require(audio.count == shape.duration, "A packet of \(shape.duration) ticks decodes to \(audio.count).")
      }
    }
    _ = try? decoder.conceal(duration: 960)
  }
}
