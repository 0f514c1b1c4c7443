package import Bitstream
package import Media
package import NIOCore
import RTP

/// Assembles H.264 access units from packets, which are passed in order of their sequence numbers (RFC 6184, 5 and 7.1).
///
/// An access unit has one timestamp. It ends with the marker, but not with one before its first slice, since some senders set it on
/// parameter sets; or when the timestamp changes. A sender that never sets the marker ends each so; one that does and then ends an
/// access unit without it has dropped the rest (see ``VP8FrameAssembler``).
///
/// The payload format has no bit for the first packet of a frame. A frame is complete if no packet before its marker is missing, its
/// first slice begins with the first macroblock, and all parameter sets that its slices refer to are known.
///
/// Frames have the form of `H264NALUnits`. Delimiters and filler are left out. A keyframe that comes without parameter sets gets those
/// that came before, in the stream or in the description.
package struct H264FrameAssembler: Sendable {
  /// An access unit that has ended, complete or not.
  package struct Frame: Sendable {
    /// The frame's properties for the ``H264DecodabilityTracker``, apart from what its dependency descriptor says.
    package var dependency: H264DecodabilityTracker.Frame
    /// The dependency descriptor of its first packet that has one.
    package var dependencyDescriptor: [UInt8]?
    /// The NAL units; incomplete if `dependency` says so.
    package var payload: ByteBuffer
    /// The size of a keyframe.
    package var size: VideoSize?
    /// Where it is shown; nil if it is incomplete.
    package var order: PictureOrder?
    package var timestamp: UInt32
    /// When its last packet arrived.
    package var arrival: MonotonicInstant
    /// Whether it is damaged only because the sender did not send its end: no packet is missing.
    package var isCutOff = false

    fileprivate mutating func markDamaged() {
      dependency.isComplete = false
      dependency.isKeyframe = false
      size = nil
    }
  }

  /// An access unit that is being assembled.
  private struct Open {
    var timestamp: UInt32
    var arrival: MonotonicInstant
    var packetsLostBefore: Int
    var packetsLostInside = 0
    var packets = 0
    var units = 0
    var isComplete = true
    /// Whether a slice, or a part of one, has arrived.
    var hasSlice = false
    var isKeyframe = false
    var isReference = false
    var hasParameterSets = false
    /// Whether parameter sets follow its slices: they hold from the next frame on.
    var hasLaterParameterSets = false
    var dependencyDescriptor: [UInt8]?
  }

  /// A NAL unit of which fragments have arrived.
  private struct Fragmented {
    var type: H264NALUnit.Kind
    /// Where its length is in the payload; nil for one that is left out.
    var start: Int?
  }

  /// A frame with more bytes than this is damaged.
  package static let maximumFrameSize = VP8FrameAssembler.maximumFrameSize
  /// A frame of more packets, or of more NAL units, is damaged as well.
  package static let maximumPackets = VP8FrameAssembler.maximumPackets
  /// A packet with more parameter sets damages its frame: to read each takes about as long as to receive a packet.
  package static let maximumParameterSets = 32
  /// A keyframe that is wider or higher, in pixels before cropping, is damaged.
  package static let maximumSide = VP8FrameAssembler.maximumSide

  /// The maximum number of bytes that are reserved in advance: the size of a larger frame says little about the next one.
  private static let usualSize = 16 << 10

  /// The parameter sets that came before, and those of the description.
  private var parameterSets = H264ParameterSets()
  /// Those of the description.
  private var describedSets: [ByteBuffer]
  private var open: Open?
  private var fragmented: Fragmented?
  /// The NAL units of the open access unit.
  private var payload = ByteBuffer()
  /// The size of the last frame in bytes, which the next one is likely to have as well.
  private var lastSize = 0
  private var orderCounter = H264PictureOrderCounter()
  /// The number of packets given up since the last access unit that ended.
  private var lost = 0
  /// Whether the last keyframe came with its parameter sets.
  private var keyframesBringSets = false
  /// Whether the sender ends frames with the marker; nil while unknown.
  private var setsMarkers: Bool?
  /// A frame that is complete if the sender sets no markers.
  private var undecided: Frame?
  /// At most three: one packet can end a frame, decide about the frame before it, and be a complete frame itself.
  private var finished: [Frame] = []

  /// - Parameter parameterSets: NAL units from the description.
  package init(parameterSets: [ByteBuffer] = []) {
    describedSets = parameterSets
    addDescribedSets()
  }

  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package var isGatheringKeyframe: Bool {
    // Members of `open` one by one, because Swift would copy the whole value to bind it.
    if open?.isComplete ?? false,
      open?.isKeyframe ?? false || open?.hasParameterSets ?? false && !(open?.hasSlice ?? false)
    {
      return true
    }
    return undecided?.dependency.isKeyframe ?? false
  }

  /// Replaces the parameter sets of the description. Those that came in the stream count more.
  package mutating func setDescribed(_ parameterSets: [ByteBuffer]) {
    guard parameterSets != describedSets else { return }
    describedSets = parameterSets
    let received = self.parameterSets
    addDescribedSets()
    self.parameterSets.merge(received)
  }

  private mutating func addDescribedSets() {
    for unit in describedSets { parameterSets.insert(unit) }
  }

  /// Forgets the parameter sets of the source: another one follows.
  package mutating func restart() {
    parameterSets = H264ParameterSets()
    addDescribedSets()
    keyframesBringSets = false
    orderCounter = H264PictureOrderCounter()
  }

  /// Adds the next packet; call ``popFrame()`` for the frames that end with it or before it.
  package mutating func add(_ packet: ReceivedPacket) {
    // Padding only, or an empty payload: the sequence continues, no frame is affected.
    guard packet.payload.readableBytes > 0 else { return }
    // Everything since the open frame's start has arrived, or is known to be lost.
    if open?.timestamp ?? packet.timestamp != packet.timestamp { close(byMarker: false) }
    if open == nil {
      open = Open(timestamp: packet.timestamp, arrival: packet.arrival, packetsLostBefore: lost)
    } else {
      // Packets of one frame on both sides of a loss: all lost packets belonged to it.
      open?.packetsLostInside += lost
      if packet.arrival > open?.arrival ?? packet.arrival { open?.arrival = packet.arrival }
    }
    lost = 0
    open?.packets += 1
    if open?.dependencyDescriptor == nil { open?.dependencyDescriptor = packet.dependencyDescriptor }
    if let content = try? H264Payload(parsing: packet.payload) {
      append(content)
    } else {
      open?.isComplete = false
    }
    if packet.marker, open?.hasSlice ?? false { close(byMarker: true) }
  }

  /// Notes that the next `count` packets were given up.
  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.isComplete = false
    fragmented = nil
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
}

/// The NAL units of a packet.
extension H264FrameAssembler {
  private mutating func append(_ content: H264Payload) {
    if case .fragment(let fragment) = content { return append(fragment) }
    // A NAL unit whose last fragment is missing.
    if fragmented != nil { open?.isComplete = false }
    fragmented = nil
    switch content {
    case .unit(let unit): append(unit)
    case .aggregation(let units):
      guard units.count(where: { $0.type.isParameterSet }) <= Self.maximumParameterSets else {
        open?.isComplete = false
        return
      }
      for unit in units { append(unit) }
    case .fragment: break
    }
  }

  private mutating func append(_ unit: H264NALUnit) {
    note(unit.type, referenceIDC: unit.referenceIDC)
    if unit.type.isParameterSet { insert(unit.bytes) }
    guard unit.type.isKept, hasRoom(for: unit.bytes) else { return }
    // Copied at once, so that the datagram's buffer is free for the next one.
    H264NALUnits.append(unit.bytes, to: &payload)
  }

  private mutating func append(_ fragment: H264Payload.Fragment) {
    if fragment.isFirst {
      if fragmented != nil { open?.isComplete = false }
      note(fragment.type, referenceIDC: fragment.referenceIDC)
      fragmented = Fragmented(type: fragment.type)
      if fragment.type.isKept, hasRoom(for: fragment.bytes) {
        fragmented?.start = payload.writerIndex
        payload.writeMultipleIntegers(0 as UInt32, fragment.header)
      }
    } else if fragmented?.type != fragment.type {
      // Its first fragment is missing. What is known of a damaged slice is which frames need it.
      note(fragment.type, referenceIDC: fragment.referenceIDC)
      fragmented = nil
      open?.isComplete = false
      return
    }
    guard let start = fragmented?.start else {
      // One that is left out ends as well.
      if fragment.isLast { fragmented = nil }
      return
    }
    guard hasRoom(for: fragment.bytes) else {
      fragmented = nil
      return
    }
    payload.writeImmutableBuffer(fragment.bytes)
    guard fragment.isLast else { return }
    fragmented = nil
    let count = payload.writerIndex - start - H264NALUnits.lengthSize
    payload.setInteger(UInt32(clamping: count), at: start)
    guard fragment.type.isParameterSet,
      let unit = payload.getSlice(at: start + H264NALUnits.lengthSize, length: count)
    else { return }
    insert(unit)
  }

  private mutating func insert(_ parameterSet: ByteBuffer) {
    if open?.hasSlice ?? false {
      open?.hasLaterParameterSets = true
    } else {
      parameterSets.insert(parameterSet)
    }
  }

  private mutating func note(_ type: H264NALUnit.Kind, referenceIDC: UInt8) {
    open?.units += 1
    if type.isSlice {
      open?.hasSlice = true
      if referenceIDC > 0 { open?.isReference = true }
      if type == .idrSlice { open?.isKeyframe = true }
    } else if type == .sequenceParameterSet {
      open?.hasParameterSets = true
    }
  }

  /// Returns whether the frame may grow by a NAL unit; otherwise it is damaged.
  private mutating func hasRoom(for unit: ByteBuffer) -> Bool {
    let size = payload.readableBytes + H264NALUnits.lengthSize + 1 + unit.readableBytes
    guard size <= Self.maximumFrameSize, max(open?.packets ?? 0, open?.units ?? 0) <= Self.maximumPackets else {
      open?.isComplete = false
      return false
    }
    if payload.readableBytes == 0 {
      payload.reserveCapacity(max(min(lastSize, Self.usualSize), H264NALUnits.lengthSize + 1 + unit.readableBytes))
    }
    return true
  }
}

/// The end of an access unit.
extension H264FrameAssembler {
  private mutating func close(byMarker: Bool) {
    guard var ended = open else { return }
    open = nil
    let isWholeSoFar = ended.isComplete
    // The last fragment of a NAL unit is missing.
    if fragmented != nil { ended.isComplete = false }
    let payload = takePayload()
    if !ended.hasSlice, ended.isComplete {
      // Parameter sets or information that the sender gave a timestamp of their own.
      lost += ended.packetsLostBefore
      return
    }
    var frame = frame(ended, payload: payload)
    if ended.hasLaterParameterSets {
      for unit in H264NALUnits(payload) where unit.type.isParameterSet { parameterSets.insert(unit.bytes) }
    }
    if byMarker {
      setsMarkers = true
      releaseUndecided(isWhole: false)
    } else if setsMarkers == true {
      frame.isCutOff = isWholeSoFar
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

  private mutating func takePayload() -> ByteBuffer {
    lastSize = payload.readableBytes
    fragmented = nil
    defer { payload = ByteBuffer() }
    return payload
  }

  private mutating func frame(_ ended: Open, payload: ByteBuffer) -> Frame {
    var frame = Frame(
      dependency: .init(
        isReference: ended.hasSlice ? ended.isReference : nil, isComplete: false,
        packetsLostBefore: ended.packetsLostBefore, packets: ended.packets + ended.packetsLostInside),
      dependencyDescriptor: ended.dependencyDescriptor, payload: payload, timestamp: ended.timestamp,
      arrival: ended.arrival)
    guard ended.isComplete, let slices = SliceSummary(payload),
      let parameters = parameterSets.sequence(for: slices.pictureParameterSets[0]),
      slices.pictureParameterSets.allSatisfy({ parameterSets.sequence(for: $0) != nil }),
      let header = try? H264SliceHeader(
        parsing: slices.first, parameters: parameters, picture: parameterSets.picture(slices.pictureParameterSets[0]))
    else { return frame }
    frame.order = orderCounter.add(header, parameters)
    frame.dependency.frameNumber = header.frameNumber
    frame.dependency.frameNumberBits = parameters.log2MaximumFrameNumber
    if header.isIDR {
      guard parameters.codedSize.width <= Self.maximumSide, parameters.codedSize.height <= Self.maximumSide,
        let whole = withParameterSets(payload, slices.pictureParameterSets, lostBefore: ended.packetsLostBefore)
      else { return frame }
      frame.payload = whole
      frame.size = VideoSize(width: parameters.size.width, height: parameters.size.height)
    }
    frame.dependency.isKeyframe = header.isIDR
    frame.dependency.isComplete = true
    return frame
  }

  /// What the slices of a frame say.
  private struct SliceSummary {
    var first: ByteBuffer
    /// The ids of the picture parameter sets, that of the first slice first.
    var pictureParameterSets: [UInt8] = []

    /// Nil unless the first slice begins the frame, all have a header, and all or none are of a keyframe.
    init?(_ payload: ByteBuffer) {
      var first: ByteBuffer?
      var isKeyframe = false
      for unit in H264NALUnits(payload) where unit.type.isSlice {
        if first == nil {
          first = unit.bytes
          isKeyframe = unit.type == .idrSlice
          guard (try? H264SliceHeader(parsing: unit.bytes))?.firstMacroblock == 0 else { return nil }
        }
        guard (unit.type == .idrSlice) == isKeyframe else { return nil }
        guard unit.type.hasSliceHeader else { continue }
        guard let header = try? H264SliceHeader(parsing: unit.bytes) else { return nil }
        if !pictureParameterSets.contains(header.pictureParameterSetID) {
          pictureParameterSets.append(header.pictureParameterSetID)
        }
      }
      guard let first else { return nil }
      self.first = first
    }
  }

  /// Returns a keyframe with the parameter sets that it refers to in front of its slices; nil if those that it came with may be
  /// missing.
  ///
  /// - Parameters:
  ///   - pictures: the ids of the picture parameter sets, which are known.
  ///   - lostBefore: the number of packets lost before the keyframe, which may have been its parameter sets.
  private mutating func withParameterSets(_ payload: ByteBuffer, _ pictures: [UInt8], lostBefore: Int) -> ByteBuffer? {
    var own = H264ParameterSets()
    for unit in H264NALUnits(payload) {
      if unit.type.isSlice { break }
      own.insert(unit.bytes)
    }
    if pictures.allSatisfy({ own.sequence(for: $0) != nil }) {
      keyframesBringSets = true
      return payload
    }
    if lostBefore > 0, keyframesBringSets { return nil }
    keyframesBringSets = false
    var sequences: [ByteBuffer] = []
    var others: [ByteBuffer] = []
    for id in pictures {
      guard let units = parameterSets.units(for: id) else { return nil }
      if !sequences.contains(units.sequence) { sequences.append(units.sequence) }
      others.append(units.picture)
    }
    let inserted = sequences + others
    let ids = inserted.compactMap(Self.parameterSetID(of:))
    var whole = ByteBuffer()
    whole.reserveCapacity(
      payload.readableBytes + inserted.reduce(0) { $0 + H264NALUnits.lengthSize + $1.readableBytes })
    for unit in inserted { H264NALUnits.append(unit, to: &whole) }
    var hasSlice = false
    for unit in H264NALUnits(payload) {
      hasSlice = hasSlice || unit.type.isSlice
      // Those that it came with are among the inserted ones, or were replaced.
      if !hasSlice, let id = Self.parameterSetID(of: unit.bytes), ids.contains(id) { continue }
      H264NALUnits.append(unit.bytes, to: &whole)
    }
    return whole.readableBytes <= Self.maximumFrameSize ? whole : nil
  }

  /// Returns a number for the kind and the id of a parameter set; nil for other units, and if it cannot be read.
  private static func parameterSetID(of unit: ByteBuffer) -> Int? {
    switch H264NALUnit(unit)?.type {
    case .sequenceParameterSet?: (try? H264SequenceParameterSet(parsing: unit)).map { 0x700 | Int($0.id) }
    case .pictureParameterSet?: (try? H264PictureParameterSet(parsing: unit)).map { 0x800 | Int($0.id) }
    default: nil
    }
  }
}
