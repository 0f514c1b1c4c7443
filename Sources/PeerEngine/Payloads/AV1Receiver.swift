import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable AV1 temporal units from a source's packets in order.
package struct AV1Receiver: VideoReceiver {
  package var frames = DecodableFrameAssembler<AV1FrameAssembler, AV1DecodabilityTracker>(AV1FrameAssembler())

  /// Its descriptions have no parameter sets.
  package init(parameterSets: [ByteBuffer] = []) {}

  package static var usesDependencyDescriptor: Bool { true }

  /// Returns what is known of a keyframe that a payload begins; nil if it begins none.
  ///
  /// A keyframe begins with its sequence header, which tells its size, and shows a key frame, unless that is in the next packet.
  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    // Most packets are decided by their first byte: they continue an OBU; or by the OBU after it.
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x80 == 0,
      var content = try? AV1Payload(parsing: payload)
    else { return nil }
    var sequence: AV1SequenceHeader?
    while let element = try? content.nextElement() {
      guard let header = element.bytes.getInteger(at: element.bytes.readerIndex, as: UInt8.self) else { return nil }
      let type = AV1OBU.Kind(header: header)
      if sequence == nil {
        guard type == .sequenceHeader || type == .temporalDelimiter || type == .metadata || type == .padding else {
          return nil
        }
      }
      guard type == .sequenceHeader || type.beginsFrame else { continue }
      var bytes = element.bytes
      // Of a frame in fragments, the size is not known.
      if type.beginsFrame, let sequence {
        guard beginsKeyFrame(bytes, isReduced: sequence.isReducedStillPicture) else { return nil }
        break
      }
      guard let unit = try? AV1OBU(parsing: &bytes), let parsed = try? AV1SequenceHeader(parsing: unit.payload) else {
        return nil
      }
      sequence = parsed
    }
    let limit = FrameLimits.maximumSide
    guard let size = sequence?.maximumSize, size.width <= limit, size.height <= limit else { return nil }
    return .init(size: VideoSize(width: size.width, height: size.height))
  }

  /// Returns whether the beginning of a frame OBU, or of a frame header OBU, is that of a key frame that is shown.
  private static func beginsKeyFrame(_ bytes: ByteBuffer, isReduced: Bool) -> Bool {
    if isReduced { return true }
    var rest = bytes
    guard let header = rest.readInteger(as: UInt8.self) else { return false }
    if header & AV1OBU.extensionBit != 0, rest.readInteger(as: UInt8.self) == nil { return false }
    if header & AV1OBU.sizeBit != 0, (try? LEB128.read("An OBU's size", from: &rest)) == nil { return false }
    return (try? AV1FrameHeader.Start(parsing: rest))?.isShownKeyFrame ?? false
  }

  /// Returns whether a payload begins a temporal unit of any kind, if no spatial layer is left out.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    guard var content = try? AV1Payload(parsing: payload), !content.continues,
      let element = try? content.nextElement(),
      let header = element.bytes.getInteger(at: element.bytes.readerIndex, as: UInt8.self)
    else { return false }
    switch AV1OBU.Kind(header: header) {
    case .temporalDelimiter, .sequenceHeader: return true
    case .frame, .frameHeader, .metadata:
      guard header & AV1OBU.extensionBit != 0 else { return true }
      let layers = element.bytes.getInteger(at: element.bytes.readerIndex + 1, as: UInt8.self) ?? 0
      return layers >> 3 & 0x03 == 0
    default: return false
    }
  }
}
