package import NIOCore

package struct AV1Packetizer {
  package init(maximumPayloadSize: Int) {}
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] { [] }
}
