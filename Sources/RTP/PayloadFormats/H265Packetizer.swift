package import NIOCore

package struct H265Packetizer {
  package init(maximumPayloadSize: Int) {}
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] { [] }
}
