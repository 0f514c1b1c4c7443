import Bitstream
import Media
import NIOCore
import RTP

/// Assembles AV1 temporal units from packets, which are passed in order of their sequence numbers (AV1 RTP specification 1.0, 4 and 5).
///
/// A temporal unit has one timestamp, and a frame for each of its spatial layers. It ends with the marker; or when the timestamp changes,
/// if its last frame is whole: a server that leaves out the upper layers need not set the marker on what it sends, and the lower ones
/// are a smaller picture. A sender that did not send the end of a frame has dropped it (see ``EndedFrames``).
///
/// The payload format has no bit for the first packet of a temporal unit. After a loss, only a keyframe, which begins with its sequence
/// header, or the dependency descriptor tells that nothing is missing.
///
/// Temporal units have the form of `AV1OBUs`, each OBU with its size. It changes received ones in one way only: in a stream with spatial
/// layers, the highest frame of a picture becomes one of the highest layer (see `AV1TemporalUnit.stored`).
package struct AV1FrameAssembler: FrameAssembler {
  package typealias Dependency = AV1DecodabilityTracker.Frame

  /// A temporal unit that is being assembled.
  private struct Open {
    var timestamp: UInt32
    var arrival: MonotonicInstant
    var packetsLostBefore: Int
    var packets = 0
    var units = 0
    var isComplete = true
    /// Whether its first packet begins a keyframe.
    var isKeyframe = false
    /// Whether the last OBU that arrived can end a frame, and is whole.
    var endsFrame = false
    /// frame_number of the last packet's dependency descriptor.
    var frameNumber: UInt16?
    var dependencyDescriptors: [[UInt8]] = []
    var lacksDescriptor = false
  }

  /// An OBU of which fragments have arrived.
  private struct Fragmented {
    var type: AV1OBU.Kind
    /// Where its header is in the payload; nil for one that is left out.
    var start: Int?
    /// The bytes of its header, which a size of ``sizeBytes`` bytes follows; nil if the OBU is in the payload as it was received.
    var headerSize: Int?
  }

  /// The number of frames of which dependency descriptors are kept: hidden ones, and one for each spatial layer.
  package static let maximumDescriptors = 16

  /// The bytes that are left for the size of an OBU in fragments: up to 16,383.
  private static let sizeBytes = 2

  private var open: Open?
  private var fragmented: Fragmented?
  /// The OBUs of the open temporal unit.
  private var payload = FramePayload()
  /// The number of packets given up since the last temporal unit that ended.
  private var lost = 0
  /// What is known from the temporal units before.
  private var state = AV1TemporalUnit.State()
  private var descriptors = DependencyDescriptorReader()
  /// At most two: one packet can end a temporal unit and be a whole one itself.
  private var finished: [Frame] = []

  package init() {}

  package var isGatheringKeyframe: Bool {
    // Members of `open` one by one, because Swift would copy the whole value to bind it.
    open?.isComplete ?? false && open?.isKeyframe ?? false
  }

  /// Forgets the sequence header and the templates of the source: another one follows.
  package mutating func restart() {
    state.reset()
    descriptors = DependencyDescriptorReader()
  }

  package mutating func add(_ packet: ReceivedPacket) {
    // Padding only, or an empty payload: the sequence continues, no frame is affected.
    guard packet.payload.readableBytes > 0 else { return }
    // Everything since the open one's start has arrived, or is known to be lost.
    if open?.timestamp ?? packet.timestamp != packet.timestamp { close(byMarker: false) }
    if open == nil {
      open = Open(timestamp: packet.timestamp, arrival: packet.arrival, packetsLostBefore: lost)
      open?.isKeyframe = AV1Receiver.keyframeStart(in: packet.payload) != nil
    } else if packet.arrival > open?.arrival ?? packet.arrival {
      open?.arrival = packet.arrival
    }
    // Packets of one temporal unit on both sides of a loss: all lost packets belonged to it.
    lost = 0
    open?.packets += 1
    note(packet.dependencyDescriptor)
    do throws(ParseError) {
      try append(AV1Payload(parsing: packet.payload))
    } catch {
      open?.isComplete = false
    }
    if packet.marker { close(byMarker: true) }
  }

  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.isComplete = false
    fragmented = nil
    lost += count
  }

  package mutating func popFrame() -> Frame? {
    finished.isEmpty ? nil : finished.removeFirst()
  }

  package mutating func discardUnfinished() {
    guard open?.isComplete ?? true else { return }
    open = nil
    _ = takePayload()
  }

  /// Ends the open temporal unit as damaged: no more packets of this source follow.
  package mutating func finish() {
    open?.isComplete = false
    close(byMarker: false)
    lost = 0
  }

  /// Keeps the dependency descriptor of the first packet of each frame: frame_number, its bytes 1 and 2, differs from that before.
  private mutating func note(_ descriptor: [UInt8]?) {
    guard let descriptor, descriptor.count >= 3 else {
      open?.lacksDescriptor = true
      return
    }
    let number = UInt16(descriptor[1]) << 8 | UInt16(descriptor[2])
    guard open?.frameNumber != number else { return }
    open?.frameNumber = number
    if open?.dependencyDescriptors.count ?? 0 < Self.maximumDescriptors {
      open?.dependencyDescriptors.append(descriptor)
    } else {
      open?.lacksDescriptor = true
    }
  }
}

/// The OBUs of a packet.
extension AV1FrameAssembler {
  private mutating func append(_ content: AV1Payload) throws(ParseError) {
    var content = content
    // Fragments of which the last or the first ones are missing.
    if (fragmented != nil) != content.continues {
      fragmented = nil
      open?.isComplete = false
    }
    while let element = try content.nextElement() {
      open?.units += 1
      if element.continues {
        try continueFragmented(element)
      } else if element.isContinued {
        beginFragmented(element.bytes)
      } else {
        var bytes = element.bytes
        try append(AV1OBU(parsing: &bytes))
      }
    }
  }

  private mutating func append(_ unit: AV1OBU) {
    guard unit.type.isKept else { return }
    if unit.type.isOfFrame { open?.endsFrame = unit.type.canEndFrame }
    // Copied at once, so that the datagram's buffer is free for the next one.
    if hasRoom(for: unit.byteCount) { unit.write(into: &payload.bytes) }
  }

  private mutating func beginFragmented(_ bytes: ByteBuffer) {
    let header = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) ?? 0
    var begun = Fragmented(type: AV1OBU.Kind(header: header))
    open?.endsFrame = false
    if begun.type.isKept, hasRoom(for: bytes.readableBytes) {
      begun.start = payload.bytes.writerIndex
      let headerSize = header & AV1OBU.extensionBit == 0 ? 1 : 2
      if header & AV1OBU.sizeBit == 0, bytes.readableBytes >= headerSize {
        begun.headerSize = headerSize
        var rest = bytes
        payload.bytes.writeInteger(header | AV1OBU.sizeBit)
        rest.moveReaderIndex(forwardBy: 1)
        if headerSize == 2, let layers = rest.readInteger(as: UInt8.self) { payload.bytes.writeInteger(layers) }
        payload.bytes.writeRepeatingByte(0, count: Self.sizeBytes)
        payload.bytes.writeImmutableBuffer(rest)
      } else {
        payload.bytes.writeImmutableBuffer(bytes)
      }
    }
    fragmented = begun
  }

  private mutating func continueFragmented(_ element: AV1Payload.Element) throws(ParseError) {
    // Its first fragment is missing, or it is left out.
    guard let start = fragmented?.start else {
      if !element.isContinued { fragmented = nil }
      return
    }
    guard hasRoom(for: element.bytes.readableBytes) else {
      fragmented = nil
      return
    }
    payload.bytes.writeImmutableBuffer(element.bytes)
    guard !element.isContinued, let ended = fragmented else { return }
    fragmented = nil
    guard let headerSize = ended.headerSize else {
      // Its size, or a part of its header, was not in the first fragment.
      var bytes = ByteBuffer()
      if let raw = payload.bytes.getBytes(at: start, length: payload.bytes.writerIndex - start) {
        bytes.writeBytes(raw)
      }
      payload.bytes.moveWriterIndex(to: start)
      return append(try AV1OBU(parsing: &bytes))
    }
    guard payload.bytes.getInteger(at: start, as: UInt8.self).map({ $0 & 0x80 == 0 }) ?? false else {
      throw .wrongValue("An OBU's obu_forbidden_bit", expected: "0", found: 1)
    }
    writeSize(at: start + headerSize)
    open?.endsFrame = ended.type.canEndFrame
  }

  /// Writes the size of the last OBU, for which there are ``sizeBytes`` bytes.
  private mutating func writeSize(at index: Int) {
    let body = index + Self.sizeBytes
    let size = payload.bytes.writerIndex - body
    let byteCount = LEB128.byteCount(of: size)
    if byteCount != Self.sizeBytes {
      if byteCount > Self.sizeBytes { payload.bytes.writeRepeatingByte(0, count: byteCount - Self.sizeBytes) }
      let start = payload.bytes.readerIndex
      payload.bytes.withUnsafeMutableReadableBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        (base + (index - start + byteCount)).copyMemory(from: base + (body - start), byteCount: size)
      }
      if byteCount < Self.sizeBytes { payload.bytes.moveWriterIndex(to: index + byteCount + size) }
    }
    payload.bytes.setLEB128(size, byteCount: byteCount, at: index)
  }

  /// Returns whether the temporal unit may grow by so many bytes; otherwise it is damaged.
  private mutating func hasRoom(for bytes: Int) -> Bool {
    guard max(open?.packets ?? 0, open?.units ?? 0) <= FrameLimits.maximumPackets, payload.reserve(8 + bytes) else {
      open?.isComplete = false
      return false
    }
    return true
  }
}

/// The end of a temporal unit.
extension AV1FrameAssembler {
  private mutating func close(byMarker: Bool) {
    guard let ended = open else { return }
    open = nil
    let hasFragment = fragmented != nil
    let payload = takePayload()
    var frame = Frame(
      dependency: .init(isKeyframe: false, isComplete: false, packetsLostBefore: ended.packetsLostBefore),
      payload: payload, timestamp: ended.timestamp, arrival: ended.arrival)
    let isWhole = !hasFragment && (byMarker || ended.endsFrame)
    if ended.isComplete, isWhole {
      readHeaders(of: &frame)
    } else {
      frame.isCutOff = ended.isComplete && !byMarker
    }
    if !ended.lacksDescriptor { readDependencies(ended.dependencyDescriptors, of: &frame) }
    finished.append(frame)
  }

  /// Parses the headers of a whole temporal unit.
  private mutating func readHeaders(of frame: inout Frame) {
    guard let unit = try? AV1TemporalUnit(parsing: frame.payload, after: &state) else { return }
    var size: VideoSize?
    if let highest = unit.size {
      guard highest.width <= FrameLimits.maximumSide, highest.height <= FrameLimits.maximumSide else { return }
      size = VideoSize(width: highest.width, height: highest.height)
    }
    frame.header = VideoHeader(isKeyframe: unit.isKeyframe, size: size, isShown: unit.isShown)
    frame.payload = unit.stored(frame.payload)
    frame.dependency.isKeyframe = unit.isKeyframe
    frame.dependency.isComplete = true
  }

  /// Reads the dependency descriptors of a temporal unit, unless one is damaged or its templates are unknown.
  private mutating func readDependencies(_ values: [[UInt8]], of frame: inout Frame) {
    var layers: [FrameDependencies] = []
    for (index, value) in values.enumerated() {
      guard let descriptor = descriptors.read(value) else { return }
      // Its beginning is missing. A keyframe begins with the sequence header, so that of a keyframe is not.
      if index == 0, frame.dependency.packetsLostBefore > 0, !descriptor.startsFrame, !frame.dependency.isKeyframe {
        frame.markDamaged()
      }
      layers.append(FrameDependencies(descriptor))
    }
    frame.dependency.layers = layers
  }

  private mutating func takePayload() -> ByteBuffer {
    fragmented = nil
    return payload.take()
  }
}
