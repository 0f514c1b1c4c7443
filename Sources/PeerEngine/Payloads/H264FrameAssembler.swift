package import Bitstream
import Media
package import NIOCore
package import RTP

/// Assembles H.264 frames (RFC 6184, 5 and 7.1).
package typealias H264FrameAssembler = NALUnitFrameAssembler<H264FrameFormat>

/// What the assembler of frames must know of H.264.
package enum H264FrameFormat: NALUnitFrameFormat {
  package static var headerSize: Int { 1 }

  package static func content(of payload: ByteBuffer) -> NALUnitContent? {
    guard let content = try? H264Payload(parsing: payload) else { return nil }
    switch content {
    case .unit(let unit): return .unit(unit.bytes, traits(of: unit.type, referenceIDC: unit.referenceIDC))
    case .aggregation(let units): return .aggregation(units.map(\.bytes))
    case .fragment(let fragment):
      return .fragment(
        .init(
          header: UInt16(fragment.header), type: fragment.type.rawValue,
          traits: traits(of: fragment.type, referenceIDC: fragment.referenceIDC), isFirst: fragment.isFirst,
          isLast: fragment.isLast, bytes: fragment.bytes))
    }
  }

  package static func traits(of unit: ByteBuffer) -> NALUnitTraits {
    guard let unit = H264NALUnit(unit) else { return [] }
    return traits(of: unit.type, referenceIDC: unit.referenceIDC)
  }

  private static func traits(of type: H264NALUnit.Kind, referenceIDC: UInt8) -> NALUnitTraits {
    var traits: NALUnitTraits = type.isKept ? .isKept : []
    if type.isSlice {
      traits.insert(.isSlice)
      if referenceIDC > 0 { traits.insert(.isReference) }
      if type == .idrSlice { traits.insert(.isKeyframe) }
    } else if type.isParameterSet {
      traits.insert(.isParameterSet)
      if type == .sequenceParameterSet { traits.insert(.precedesKeyframe) }
    }
    return traits
  }

  package static func dependency(of accessUnit: AccessUnit) -> H264DecodabilityTracker.Frame {
    .init(
      isReference: accessUnit.hasSlice ? accessUnit.isReference : nil, isComplete: false,
      packetsLostBefore: accessUnit.packetsLostBefore, packets: accessUnit.packets + accessUnit.packetsLostInside)
  }

  package static func read(
    _ payload: ByteBuffer, sets: H264ParameterSets, orders: inout H264PictureOrderCounter,
    into dependency: inout H264DecodabilityTracker.Frame
  ) -> NALUnitFrameHeader? {
    guard let slices = SliceSummary(payload),
      let parameters = sets.sequence(for: slices.pictureParameterSets[0]),
      slices.pictureParameterSets.allSatisfy({ sets.sequence(for: $0) != nil }),
      let header = try? H264SliceHeader(
        parsing: slices.first, parameters: parameters, picture: sets.picture(slices.pictureParameterSets[0]))
    else { return nil }
    dependency.frameNumber = header.frameNumber
    dependency.frameNumberBits = parameters.log2MaximumFrameNumber
    let size = VideoSize(width: parameters.size.width, height: parameters.size.height)
    return NALUnitFrameHeader(
      header: VideoHeader(isKeyframe: header.isIDR, size: header.isIDR ? size : nil),
      pictureParameterSets: slices.pictureParameterSets, codedSize: parameters.codedSize,
      order: orders.add(header, parameters))
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
        let isFirst = first == nil
        if isFirst {
          first = unit.bytes
          isKeyframe = unit.type == .idrSlice
        }
        guard (unit.type == .idrSlice) == isKeyframe else { return nil }
        guard isFirst || unit.type.hasSliceHeader else { continue }
        guard let header = try? H264SliceHeader(parsing: unit.bytes), !isFirst || header.firstMacroblock == 0 else {
          return nil
        }
        if !pictureParameterSets.contains(header.pictureParameterSetID) {
          pictureParameterSets.append(header.pictureParameterSetID)
        }
      }
      guard let first else { return nil }
      self.first = first
    }
  }
}

extension H264DecodabilityRules.Frame: NALUnitFrameDependency {
  package mutating func add(_ descriptor: DependencyDescriptor) { dependencies = FrameDependencies(descriptor) }
}

extension H264PictureOrderCounter: PictureOrderCounter {}

extension H264ParameterSets: NALUnitParameterSets {
  package func units(for pictureIDs: [UInt8]) -> [ByteBuffer]? {
    var sequences: [ByteBuffer] = []
    var pictures: [ByteBuffer] = []
    for id in pictureIDs {
      guard let units = units(for: id) else { return nil }
      if !sequences.contains(units.sequence) { sequences.append(units.sequence) }
      pictures.append(units.picture)
    }
    return sequences + pictures
  }

  package static func identity(of unit: ByteBuffer) -> Int? {
    switch H264NALUnit(unit)?.type {
    case .sequenceParameterSet?: (try? H264SequenceParameterSet(parsing: unit)).map { 0x700 | Int($0.id) }
    case .pictureParameterSet?: (try? H264PictureParameterSet(parsing: unit)).map { 0x800 | Int($0.id) }
    default: nil
    }
  }
}
