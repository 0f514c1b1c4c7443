import Bitstream
import Media
package import NIOCore

/// Assembles the access units of a codec with NAL units from packets, which are passed in order of their sequence numbers (H.264:
/// RFC 6184, 5 and 7.1; H.265: RFC 7798, 4.4 and 6).
///
/// An access unit has one timestamp. It ends with the marker, but not with one before its first slice, since some senders set it on
/// parameter sets; or when the timestamp changes (see ``EndedFrames``).
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

  /// A packet with more parameter sets damages its frame: to read each takes about as long as to receive a packet.
  package static var maximumParameterSets: Int { 32 }
  /// The parameter sets that came before, and those of the description.
  private var parameterSets: ReceivedParameterSets<Format>
  private var open: AccessUnit?
  private var fragmented: Fragmented?
  /// The NAL units of the open access unit.
  private var payload = FramePayload()
  private var orders = Format.OrderCounter()
  private var descriptors = DependencyDescriptorReader()
  /// The number of packets given up since the last access unit that ended.
  private var lost = 0
  private var ended = EndedFrames<Dependency>()

  /// - Parameter parameterSets: NAL units from the description.
  package init(parameterSets: [ByteBuffer] = []) {
    self.parameterSets = ReceivedParameterSets(described: parameterSets)
  }

  package var isGatheringKeyframe: Bool {
    // Members of `open` one by one, because Swift would copy the whole value to bind it.
    if open?.isComplete ?? false,
      open?.isKeyframe ?? false || open?.hasParameterSets ?? false && !(open?.hasSlice ?? false)
    {
      return true
    }
    return ended.holdsKeyframe
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

  package mutating func addLost(_ count: Int) {
    guard count > 0 else { return }
    open?.isComplete = false
    fragmented = nil
    lost += count
  }

  package mutating func popFrame() -> Frame? { ended.popFrame() }

  package mutating func discardUnfinished() {
    guard open?.isComplete ?? true else { return }
    open = nil
    ended.discardUndecided()
    _ = takePayload()
  }

  /// Ends the open frame as damaged: no more packets of this source follow.
  package mutating func finish() {
    open?.isComplete = false
    close(byMarker: false)
    ended.finish()
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
    NALUnits.append(unit, to: &payload.bytes)
  }

  private mutating func append(_ fragment: NALUnitContent.Fragment) {
    if fragment.isFirst {
      if fragmented != nil { open?.isComplete = false }
      note(fragment.traits)
      fragmented = Fragmented(type: fragment.type)
      if fragment.traits.contains(.isKept), hasRoom(for: fragment.bytes) {
        fragmented?.start = payload.bytes.writerIndex
        payload.bytes.writeInteger(0 as UInt32)
        if Format.headerSize == 1 {
          payload.bytes.writeInteger(UInt8(truncatingIfNeeded: fragment.header))
        } else {
          payload.bytes.writeInteger(fragment.header)
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
    payload.bytes.writeImmutableBuffer(fragment.bytes)
    guard fragment.isLast else { return }
    fragmented = nil
    let count = payload.bytes.writerIndex - start - NALUnits.lengthSize
    payload.bytes.setInteger(UInt32(clamping: count), at: start)
    guard fragment.traits.contains(.isParameterSet),
      let unit = payload.bytes.getSlice(at: start + NALUnits.lengthSize, length: count)
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
    guard max(open?.packets ?? 0, open?.units ?? 0) <= FrameLimits.maximumPackets,
      payload.reserve(NALUnits.lengthSize + 2 + unit.readableBytes)
    else {
      open?.isComplete = false
      return false
    }
    return true
  }
}

/// The end of an access unit.
extension NALUnitFrameAssembler {
  private mutating func close(byMarker: Bool) {
    guard var accessUnit = open else { return }
    open = nil
    let isWholeSoFar = accessUnit.isComplete
    // The last fragment of a NAL unit is missing.
    if fragmented != nil { accessUnit.isComplete = false }
    let payload = takePayload()
    if !accessUnit.hasSlice, accessUnit.isComplete {
      // Parameter sets or information that the sender gave a timestamp of their own.
      lost += accessUnit.packetsLostBefore
      return
    }
    let frame = frame(accessUnit, payload: payload)
    if accessUnit.hasLaterParameterSets {
      for unit in NALUnits(payload) where Format.traits(of: unit).contains(.isParameterSet) {
        parameterSets.insert(unit)
      }
    }
    ended.add(frame, byMarker: byMarker, isWholeSoFar: isWholeSoFar)
  }

  private mutating func takePayload() -> ByteBuffer {
    fragmented = nil
    return payload.take()
  }

  private mutating func frame(_ accessUnit: AccessUnit, payload: ByteBuffer) -> Frame {
    var frame = Frame(
      dependency: Format.dependency(of: accessUnit), payload: payload, timestamp: accessUnit.timestamp,
      arrival: accessUnit.arrival)
    if let value = accessUnit.dependencyDescriptor, let descriptor = descriptors.read(value) {
      frame.dependency.add(descriptor)
    }
    guard accessUnit.isComplete,
      let known = Format.read(payload, sets: parameterSets.sets, orders: &orders, into: &frame.dependency)
    else { return frame }
    frame.order = known.order
    if known.header.isKeyframe {
      guard known.codedSize.width <= FrameLimits.maximumSide, known.codedSize.height <= FrameLimits.maximumSide,
        let whole = parameterSets.complete(
          payload, known.pictureParameterSets, lostBefore: accessUnit.packetsLostBefore),
        whole.readableBytes <= FrameLimits.maximumSize
      else { return frame }
      frame.payload = whole
    }
    frame.header = known.header
    frame.dependency.isKeyframe = known.header.isKeyframe
    frame.dependency.isComplete = true
    return frame
  }
}
