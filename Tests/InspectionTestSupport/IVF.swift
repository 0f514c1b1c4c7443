import Media
import NIOCore

/// Writes IVF, the simplest video file format, as libvpx's tools do.
package enum IVF {
  package static func bytes(of peer: SyntheticPeer) throws -> [UInt8] {
    var file = ByteBuffer(string: "DKIF")
    for value in [0, 32] as [UInt16] { file.writeInteger(value, endianness: .little) }
    file.writeString("VP80")
    for value in [SyntheticPeer.size.width, SyntheticPeer.size.height] {
      file.writeInteger(UInt16(value), endianness: .little)
    }
    for value in [90_000, 1, 0, 0] as [UInt32] { file.writeInteger(value, endianness: .little) }
    for arrival in try peer.arrivals() {
      guard case .frame(let frame) = arrival.event, frame.codec == .vp8 else { continue }
      file.writeInteger(UInt32(frame.payload.readableBytes), endianness: .little)
      file.writeInteger(frame.time.ticks, endianness: .little)
      file.writeImmutableBuffer(frame.payload)
    }
    return Array(file.readableBytesView)
  }
}
