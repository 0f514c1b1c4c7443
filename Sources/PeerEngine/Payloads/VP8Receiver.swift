package import NIOCore
import RTP

/// Assembles decodable VP8 frames from a source's packets in order.
package struct VP8Receiver: VideoReceiver {
  package var frames = DecodableFrameAssembler<VP8FrameAssembler, VP8DecodabilityTracker>(VP8FrameAssembler())

  /// Its descriptions have no parameter sets.
  package init(parameterSets: [ByteBuffer] = []) {}

  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    // Nine packets in ten are decided by their first byte: no S bit, or another partition than 0.
    guard startsFrame(payload) else { return nil }
    var data = payload
    guard (try? VP8PayloadDescriptor(parsing: &data)) != nil else { return nil }
    return VP8FrameAssembler.keyframeSize(in: data).map { PayloadReader.KeyframeStart(size: $0) }
  }

  /// Returns whether a payload begins a frame of any kind: the S bit in partition 0.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    payload.getInteger(at: payload.readerIndex, as: UInt8.self).map { $0 & 0x17 == 0x10 } ?? false
  }
}
