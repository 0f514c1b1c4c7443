import Bitstream
import BotPeer
import Media
import NIOCore
import PeerEngine
import RTP

/// RTP payloads and frames of VP9.
enum VP9Targets {
  /// Parses the input as one payload, and then as packets.
  static func packets(_ input: [UInt8]) throws(InvariantViolation) {
    // The index and hidden layers make a frame a little longer.
    try ReceiverTarget.run(input, VP9Receiver.self, added: 64, checkPayload: descriptor) {
      frame, isDecodable throws(InvariantViolation) in
      if isDecodable { try superframe(of: frame) }
      try packetize(frame.payload)
    }
  }

  private static func superframe(of frame: VP9FrameAssembler.Frame) throws(InvariantViolation) {
    guard let superframe = try? VP9Superframe(parsing: frame.payload) else {
      throw InvariantViolation("A decodable frame is no superframe.")
    }
    try require(Int(frame.header?.hiddenLayers ?? 0) < superframe.frames.count, "The highest layer is hidden.")
  }

  /// Splits a frame into packets and joins them again.
  private static func packetize(_ frame: ByteBuffer) throws(InvariantViolation) {
    var joined = ByteBuffer()
    let pieces = VP9Packetizer(maximumPayloadSize: 100).packetize(frame: frame, pictureID: 7)
    for (position, piece) in pieces.enumerated() {
      var piece = piece
      guard piece.readableBytes <= 100, let descriptor = try? VP9PayloadDescriptor(parsing: &piece) else {
        throw InvariantViolation("A piece of a frame is too large or cannot be read.")
      }
      try require(descriptor.startsFrame == (position == 0), "Only the first piece must start the frame.")
      try require(descriptor.endsFrame == (position == pieces.count - 1), "Only the last piece must end the frame.")
      joined.writeImmutableBuffer(piece)
    }
    try require(joined == frame, "A packetized frame does not round-trip.")
  }

  /// Parses, writes and parses a payload descriptor again, and its scalability structure.
  private static func descriptor(_ payload: ByteBuffer) throws(InvariantViolation) {
    var rest = payload
    if let structure = try? VP9ScalabilityStructure(parsing: &rest) {
      var again = written { structure.write(into: &$0) }
      try require(again.readableBytes == structure.byteCount, "A structure reports a wrong length.")
      try require(
        (try? VP9ScalabilityStructure(parsing: &again)) == structure && again.readableBytes == 0,
        "A structure does not round-trip.")
    }
    rest = payload
    guard let descriptor = try? VP9PayloadDescriptor(parsing: &rest) else { return }
    try require(
      descriptor.byteCount + rest.readableBytes == payload.readableBytes, "A descriptor reports a wrong length.")
    var again = written { descriptor.write(into: &$0) }
    try require(again.readableBytes == descriptor.byteCount, "A descriptor changes its length when written.")
    again.writeImmutableBuffer(rest)
    try require((try? VP9PayloadDescriptor(parsing: &again)) == descriptor, "A descriptor does not round-trip.")
  }

  /// Parses the input as one frame, and then as units of a container, each after its length in two bytes, whose lower layers
  /// are hidden.
  static func frames(_ input: [UInt8]) throws(InvariantViolation) {
    try frame(ByteBuffer(bytes: input), VP9ReferenceSizes())
    var (cursor, references) = (InputCursor(input), VP9ReferenceSizes())
    while !cursor.isAtEnd {
      let length = Int(cursor.byte()) << 8 | Int(cursor.byte())
      guard let superframe = try? VP9Superframe(parsing: ByteBuffer(bytes: cursor.bytes(length))) else { continue }
      try roundTrip(superframe)
      for part in superframe.frames { try frame(part, references) }
      var (before, hidden) = (references, superframe)
      let output = hidden.hideLowerLayers(references: &references)
      try require(
        output.hiddenFrames == zip(hidden.frames, superframe.frames).count { $0 != $1 }, "Hidden layers are miscounted."
      )
      try require(hidden.frames.last == superframe.frames.last, "The highest layer is hidden.")
      try roundTrip(hidden)
      let again = hidden.hideLowerLayers(references: &before)
      try require(before == references, "Hiding changes what a decoder stores.")
      try require(
        again.hiddenFrames == 0 && again.size == output.size && again.isShown == output.isShown,
        "Hiding changes what is shown.")
    }
  }

  private static func roundTrip(_ superframe: VP9Superframe) throws(InvariantViolation) {
    let unit = written { superframe.write(into: &$0) }
    try require(unit.readableBytes <= superframe.maximumByteCount, "A superframe is longer than it may be.")
    // A single frame has no index, and its data may look like one.
    guard superframe.frames.count > 1 else { return }
    try require((try? VP9Superframe(parsing: unit)) == superframe, "A superframe does not round-trip.")
  }

  private static func frame(_ frame: ByteBuffer, _ references: VP9ReferenceSizes) throws(InvariantViolation) {
    guard let header = try? VP9FrameHeader(parsing: frame, references: references),
      let extent = try? header.extent(in: frame)
    else { return }
    try require(extent.bytes <= frame.readableBytes, "A header is longer than its frame.")
    guard let hidden = header.hiding(frame) else { return }
    guard let after = try? VP9FrameHeader(parsing: hidden, references: references),
      let extentAfter = try? after.extent(in: hidden)
    else { throw InvariantViolation("A hidden frame cannot be parsed.") }
    try require(
      !after.isShown && after.kind == header.kind && after.size == header.size
        && after.refreshFrameFlags == header.refreshFrameFlags
        && extentAfter.compressedHeaderSize == extent.compressedHeaderSize,
      "Hiding a frame changes its header.")
    try require(
      Array(hidden.readableBytesView.dropFirst(extentAfter.bytes))
        == Array(frame.readableBytesView.dropFirst(extent.bytes)), "Hiding a frame changes its data.")
  }
}
