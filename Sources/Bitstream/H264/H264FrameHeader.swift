package import NIOCore

/// What the NAL units of a frame in the form of ``H264NALUnits`` say about the frame.
package struct H264FrameHeader: Sendable, Hashable {
  /// Whether the frame has an IDR slice: it can be decoded without earlier ones, and later ones refer to none before it.
  package let isKeyframe: Bool
  /// Whether other frames may refer to this one (nal_ref_idc is not 0).
  package let isReference: Bool
  /// The sequence parameter set of a keyframe: that to which its first IDR slice refers by the frame's picture parameter sets; nil for
  /// other frames.
  package let parameters: H264SequenceParameterSet?

  /// The size of a keyframe.
  package let size: H264SequenceParameterSet.Size?

  /// Parses the headers of all NAL units of a whole frame. A keyframe must have the parameter sets to which it refers before its first
  /// slice, and IDR slices only.
  package init(parsing frame: ByteBuffer) throws(ParseError) {
    var sets = H264ParameterSets()
    var idr: H264SliceHeader?
    var hasSlice = false
    var isReference = false
    var units = H264NALUnits(frame).makeIterator()
    while let unit = units.next() {
      switch unit.type {
      case .sequenceParameterSet, .pictureParameterSet: if !hasSlice { sets.insert(unit.bytes) }
      case .idrSlice where !hasSlice: idr = try H264SliceHeader(parsing: unit.bytes)
      default: break
      }
      guard unit.type.isSlice else { continue }
      guard (unit.type == .idrSlice) == (idr != nil) else {
        throw .wrongValue(
          "A slice's nal_unit_type", expected: "5 in all slices of a frame or in none", found: Int(unit.type.rawValue))
      }
      hasSlice = true
      isReference = isReference || unit.referenceIDC != 0
    }
    guard units.rest.readableBytes == 0 else {
      throw .wrongValue(
        "The bytes of an H.264 frame after its NAL units", expected: "0", found: units.rest.readableBytes)
    }
    guard hasSlice else { throw .tooShort("An H.264 frame without a slice", needs: 1, found: 0) }
    isKeyframe = idr != nil
    self.isReference = isReference
    if let idr {
      guard let parameters = sets.sequence(for: idr.pictureParameterSetID) else {
        throw .wrongValue(
          "The PPS of an H.264 keyframe", expected: "in the frame, with its SPS", found: Int(idr.pictureParameterSetID))
      }
      self.parameters = parameters
      size = parameters.size
    } else {
      parameters = nil
      size = nil
    }
  }
}
