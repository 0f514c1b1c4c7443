package import NIOCore

/// What the NAL units of a frame in the form of ``NALUnits`` say about the frame.
package struct H265FrameHeader: Sendable, Hashable {
  /// nal_unit_type of its slice segments.
  package let type: H265NALUnit.Kind
  /// The sequence parameter set of a keyframe: that to which its first slice refers by the frame's parameter sets; nil for other
  /// frames.
  package let parameters: H265SequenceParameterSet?
  /// What the first slice of a keyframe says of the picture; nil for other frames, whose parameter sets are not in the frame.
  package let picture: H265SliceHeader.Picture?

  /// Whether decoding can begin with the frame (types 16 to 21).
  package var isKeyframe: Bool { type.isKeyframe }
  /// Whether the frame cannot be decoded if decoding begins with the keyframe before it (RASL).
  package var isSkippedLeading: Bool { type.isSkippedLeading }
  /// The size of a keyframe.
  package var size: PixelSize? { parameters?.size }

  /// Parses the headers of all NAL units of a whole frame. A keyframe must have the parameter sets to which it refers before its first
  /// slice; all slice segments must be of one type.
  package init(parsing frame: ByteBuffer) throws(ParseError) {
    var sets = H265ParameterSets()
    var first: H265SliceHeader?
    var units = H265NALUnits(frame).makeIterator()
    while let unit = units.next() {
      guard unit.layerID == 0 else { continue }
      if first == nil, unit.type.isParameterSet { sets.insert(unit.bytes) }
      guard unit.type.isSlice else { continue }
      guard let known = first else {
        first = try H265SliceHeader(parsing: unit.bytes, sets: sets)
        continue
      }
      guard unit.type == known.type else {
        throw .wrongValue(
          "A slice segment's nal_unit_type", expected: "\(known.type.rawValue), as that of the first one",
          found: Int(unit.type.rawValue))
      }
    }
    guard units.rest.readableBytes == 0 else {
      throw .wrongValue(
        "The bytes of an H.265 frame after its NAL units", expected: "0", found: units.rest.readableBytes)
    }
    guard let first else { throw .tooShort("An H.265 frame without a slice segment", needs: 1, found: 0) }
    type = first.type
    guard first.type.isKeyframe else {
      parameters = nil
      picture = nil
      return
    }
    let id = first.pictureParameterSetID
    guard let parameters = sets.sequence(for: id), sets.units(for: id) != nil else {
      throw .wrongValue("The PPS of an H.265 keyframe", expected: "in the frame, with its SPS and VPS", found: Int(id))
    }
    self.parameters = parameters
    picture = first.picture
  }
}
