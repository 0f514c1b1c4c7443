import Bitstream
import Media
package import NIOCore

/// Assembles the access units of a codec with NAL units from packets, which are passed in order of their sequence numbers (H.264:
/// RFC 6184, 5 and 7.1; H.265: RFC 7798, 4.4 and 6).
///
/// An access unit has one timestamp. It ends with the marker, but not with one before its first slice, since some senders set it on
/// parameter sets; or when the timestamp changes. A sender that never sets the marker ends each so; one that does and then ends an
/// access unit without it has dropped the rest (see ``VP8FrameAssembler``).
///
/// The payload format has no bit for the first packet of a frame. A frame is complete if no packet before its marker is missing, its
/// first slice begins with the first macroblock, and all parameter sets that its slices refer to are known.
///
/// Frames have the form of `NALUnits`. Delimiters and filler are left out. A keyframe that comes without parameter sets gets those
/// that came before, in the stream or in the description.
package struct NALUnitFrameAssembler<Format: NALUnitFrameFormat>: FrameAssembler {
  package typealias Dependency = Format.Dependency

  /// A NAL unit of which fragments have arrived.
  private struct Fragmented {
    /// nal_unit_type.
    var type: UInt8
    /// Where its length is in the payload; nil for one that is left out.
    var start: Int?
  }

  /// A frame with more bytes than this is damaged.
  package static var maximumFrameSize: Int { VP8FrameAssembler.maximumFrameSize }
  /// A frame of more packets, or of more NAL units, is damaged as well.
  package static var maximumPackets: Int { VP8FrameAssembler.maximumPackets }
  /// A packet with more parameter sets damages its frame: to read each takes about as long as to receive a packet.
  package static var maximumParameterSets: Int { 32 }
  /// A keyframe that is wider or higher, in pixels before cropping, is damaged.
  package static var maximumSide: Int { VP8FrameAssembler.maximumSide }

  /// The maximum number of bytes that are reserved in advance: the size of a larger frame says little about the next one.
  private static var usualSize: Int { 16 << 10 }

  /// The parameter sets that came before, and those of the description.
  private var parameterSets: ReceivedParameterSets<Format>
  private var open: AccessUnit?
  private var fragmented: Fragmented?
  /// The NAL units of the open access unit.
  private var payload = ByteBuffer()
  /// The size of the last frame in bytes, which the next one is likely to have as well.
  private var lastSize = 0
  private var orders = Format.OrderCounter()
  private var descriptors = DependencyDescriptorReader()
  /// The number of packets given up since the last access unit that ended.
  private var lost = 0
  /// Whether the sender ends frames with the marker; nil while unknown.
  private var setsMarkers: Bool?
  /// A frame that is complete if the sender sets no markers.
  private var undecided: Frame?
  /// At most three: one packet can end a frame, decide about the frame before it, and be a complete frame itself.
  private var finished: [Frame] = []

  /// - Parameter parameterSets: NAL units from the description.
  package init(parameterSets: [ByteBuffer] = []) {
    self.parameterSets = ReceivedParameterSets(described: parameterSets)
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
    self.parameterSets.setDescribed(parameterSets)
  }

  /// Forgets the parameter sets and the templates of the source: another one follows.
  package mutating func restart() {
    parameterSets.restart()
    orders = Format.OrderCounter()
    descriptors = DependencyDescriptorReader()
  }

  /// Adds the next packet; call ``popFrame()`` for the frames that end with it or before it.
  package mutating func add(_ packet: ReceivedPacket) {
    // Padding only, or an empty payload: the sequence continues, no frame is affected.
    guard packet.payload.readableBytes > 0 else { return }
    // Everything since the open frame's start has arrived, or is known to be lost.
    if open?.timestamp ?? packet.timestamp != packet.timestamp { close(byMarker: false) }
    if open == nil {
      open = AccessUnit(timestamp: packet.timestamp, arrival: packet.arrival, packetsLostBefore: lost)
    } else {
      // Packets of one frame on both sides of a loss: all lost packets belonged to it.
      open?.packetsLostInside += lost
      if packet.arrival > open?.arrival ?? packet.arrival { open?.arrival = packet.arrival }
    }
    lost = 0
    open?.packets += 1
    if open?.dependencyDescriptor == nil { open?.dependencyDescriptor = packet.dependencyDescriptor }
    if let content = Format.content(of: packet.payload) {
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
extension NALUnitFrameAssembler {
  private mutating func append(_ content: NALUnitContent) {
    if case .fragment(let fragment) = content { return append(fragment) }
    // A NAL unit whose last fragment is missing.
    if fragmented != nil { open?.isComplete = false }
    fragmented = nil
    switch content {
    case .unit(let unit, let traits): append(unit, traits)
    case .aggregation(let units):
      let traits = units.map(Format.traits)
      guard traits.count(where: { $0.contains(.isParameterSet) }) <= Self.maximumParameterSets else {
        open?.isComplete = false
        return
      }
      for (unit, traits) in zip(units, traits) { append(unit, traits) }
    case .fragment: break
    }
  }

  private mutating func append(_ unit: ByteBuffer, _ traits: NALUnitTraits) {
    note(traits)
    if traits.contains(.isParameterSet) { insert(unit) }
    guard traits.contains(.isKept), hasRoom(for: unit) else { return }
    // Copied at once, so that the datagram's buffer is free for the next one.
    NALUnits.append(unit, to: &payload)
  }

  private mutating func append(_ fragment: NALUnitContent.Fragment) {
    if fragment.isFirst {
      if fragmented != nil { open?.isComplete = false }
      note(fragment.traits)
      fragmented = Fragmented(type: fragment.type)
      if fragment.traits.contains(.isKept), hasRoom(for: fragment.bytes) {
        fragmented?.start = payload.writerIndex
        payload.writeInteger(0 as UInt32)
        if Format.headerSize == 1 {
          payload.writeInteger(UInt8(truncatingIfNeeded: fragment.header))
        } else {
          payload.writeInteger(fragment.header)
        }
      }
    } else if fragmented?.type != fragment.type {
      // Its first fragment is missing. What is known of a damaged slice is which frames need it.
      note(fragment.traits)
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
    let count = payload.writerIndex - start - NALUnits.lengthSize
    payload.setInteger(UInt32(clamping: count), at: start)
    guard fragment.traits.contains(.isParameterSet),
      let unit = payload.getSlice(at: start + NALUnits.lengthSize, length: count)
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

  private mutating func note(_ traits: NALUnitTraits) {
    open?.units += 1
    if traits.contains(.isSlice) {
      open?.hasSlice = true
      if traits.contains(.isReference) { open?.isReference = true }
      if traits.contains(.isKeyframe) { open?.isKeyframe = true }
    } else if traits.contains(.precedesKeyframe) {
      open?.hasParameterSets = true
    } else if traits.contains(.endsSequence) {
      open?.endsSequence = true
    }
  }

  /// Returns whether the frame may grow by a NAL unit; otherwise it is damaged.
  private mutating func hasRoom(for unit: ByteBuffer) -> Bool {
    let size = payload.readableBytes + NALUnits.lengthSize + 2 + unit.readableBytes
    guard size <= Self.maximumFrameSize, max(open?.packets ?? 0, open?.units ?? 0) <= Self.maximumPackets else {
      open?.isComplete = false
      return false
    }
    if payload.readableBytes == 0 {
      payload.reserveCapacity(max(min(lastSize, Self.usualSize), NALUnits.lengthSize + 2 + unit.readableBytes))
    }
    return true
  }
}

/// The end of an access unit.
extension NALUnitFrameAssembler {
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
      for unit in NALUnits(payload) where Format.traits(of: unit).contains(.isParameterSet) {
        parameterSets.insert(unit)
      }
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

  private mutating func frame(_ ended: AccessUnit, payload: ByteBuffer) -> Frame {
    var frame = Frame(
      dependency: Format.dependency(of: ended), payload: payload, timestamp: ended.timestamp, arrival: ended.arrival)
    if let value = ended.dependencyDescriptor, let descriptor = descriptors.read(value) {
      frame.dependency.add(descriptor)
    }
    guard ended.isComplete,
      let known = Format.read(payload, sets: parameterSets.sets, orders: &orders, into: &frame.dependency)
    else { return frame }
    frame.order = known.order
    if known.header.isKeyframe {
      guard known.codedSize.width <= Self.maximumSide, known.codedSize.height <= Self.maximumSide,
        let whole = parameterSets.complete(payload, known.pictureParameterSets, lostBefore: ended.packetsLostBefore),
        whole.readableBytes <= Self.maximumFrameSize
      else { return frame }
      frame.payload = whole
    }
    frame.header = known.header
    frame.dependency.isKeyframe = known.header.isKeyframe
    frame.dependency.isComplete = true
    return frame
  }
}
