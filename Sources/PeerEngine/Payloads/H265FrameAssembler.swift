package import Bitstream
import Media
package import NIOCore
package import RTP

/// Assembles H.265 frames (RFC 7798, 4.4 and 6).
package typealias H265FrameAssembler = NALUnitFrameAssembler<H265FrameFormat>

/// What the assembler of frames must know of H.265. Units of upper layers (nuh_layer_id above 0) are left out.
package enum H265FrameFormat: NALUnitFrameFormat {
  package static var headerSize: Int { H265NALUnit.headerSize }

  package static func content(of payload: ByteBuffer) -> NALUnitContent? {
    guard let content = try? H265Payload(parsing: payload) else { return nil }
    switch content {
    case .unit(let unit): return .unit(unit.bytes, traits(of: unit.type, layerID: unit.layerID))
    case .aggregation(let units): return .aggregation(units.map(\.bytes))
    case .fragment(let fragment):
      return .fragment(
        .init(
          header: fragment.header, type: fragment.type.rawValue,
          traits: traits(of: fragment.type, layerID: fragment.layerID), isFirst: fragment.isFirst,
          isLast: fragment.isLast, bytes: fragment.bytes))
    }
  }

  package static func traits(of unit: ByteBuffer) -> NALUnitTraits {
    guard let unit = H265NALUnit(unit) else { return [] }
    return traits(of: unit.type, layerID: unit.layerID)
  }

  private static func traits(of type: H265NALUnit.Kind, layerID: UInt8) -> NALUnitTraits {
    guard layerID == 0 else { return [] }
    var traits: NALUnitTraits = type.isKept ? .isKept : []
    if type.isSlice {
      traits.insert(.isSlice)
      if type.isKeyframe { traits.insert(.isKeyframe) }
    } else if type.isParameterSet {
      traits.insert(.isParameterSet)
      if type != .pictureParameterSet { traits.insert(.precedesKeyframe) }
    } else if type == .endOfSequence {
      traits.insert(.endsSequence)
    }
    return traits
  }

  package static func dependency(of accessUnit: AccessUnit) -> H265DecodabilityTracker.Frame {
    .init(
      isComplete: false, packetsLostBefore: accessUnit.packetsLostBefore, endsSequence: accessUnit.endsSequence)
  }

  package static func read(
    _ payload: ByteBuffer, sets: H265ParameterSets, orders: inout H265PictureOrderCounter,
    into dependency: inout H265DecodabilityTracker.Frame
  ) -> NALUnitFrameHeader? {
    var first: H265SliceHeader?
    for unit in H265NALUnits(payload) where unit.type.isSlice {
      guard let known = first else {
        guard let header = try? H265SliceHeader(parsing: unit.bytes, sets: sets), header.isFirst else { return nil }
        first = header
        continue
      }
      // All slices of a picture have one type and one picture parameter set (ITU-T H.265, 7.4.2.2 and 7.4.7.1).
      guard unit.type == known.type, let header = try? H265SliceHeader(parsing: unit.bytes), !header.isFirst,
        header.pictureParameterSetID == known.pictureParameterSetID
      else { return nil }
    }
    guard let first, let picture = first.picture, let parameters = sets.sequence(for: first.pictureParameterSetID)
    else {
      return nil
    }
    dependency.type = first.type
    let size = VideoSize(width: parameters.size.width, height: parameters.size.height)
    return NALUnitFrameHeader(
      header: VideoHeader(
        isKeyframe: first.type.isKeyframe, size: first.type.isKeyframe ? size : nil, isShown: picture.isShown,
        isSkippedLeading: first.type.isSkippedLeading, leading: H265Bitstream.leading(after: first.type)),
      pictureParameterSets: [first.pictureParameterSetID], codedSize: parameters.codedSize,
      order: orders.add(first, parameters, endsSequence: dependency.endsSequence))
  }
}

extension H265DecodabilityTracker.Frame: NALUnitFrameDependency {
  /// It has none.
  package mutating func add(_ descriptor: DependencyDescriptor) {}
}

extension H265PictureOrderCounter: PictureOrderCounter {}

extension H265ParameterSets: NALUnitParameterSets {
  package func units(for pictureIDs: [UInt8]) -> [ByteBuffer]? {
    var units: [ByteBuffer] = []
    for id in pictureIDs {
      guard let needed = self.units(for: id) else { return nil }
      for unit in needed where !units.contains(unit) { units.append(unit) }
    }
    return units
  }

  package static func identity(of unit: ByteBuffer) -> Int? {
    switch H265NALUnit(unit)?.type {
    case .videoParameterSet?: (try? H265VideoParameterSet(parsing: unit)).map { 0x2000 | Int($0.id) }
    case .sequenceParameterSet?: (try? H265SequenceParameterSet(parsing: unit)).map { 0x2100 | Int($0.id) }
    case .pictureParameterSet?: (try? H265PictureParameterSet(parsing: unit)).map { 0x2200 | Int($0.id) }
    default: nil
    }
  }
}
