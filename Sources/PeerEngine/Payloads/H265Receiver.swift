package import NIOCore

package struct H265Receiver: VideoReceiver {
  package let needsKeyframe = true
  package let isGatheringKeyframe = false
  package init(parameterSets: [ByteBuffer] = []) {}
  package mutating func add(_ packet: ReceivedPacket) {}
  package mutating func addLost(_ count: Int) {}
  package mutating func next() -> PayloadReader.Item? { nil }
  package mutating func discardUnfinished() {}
  package mutating func finish() {}
  package mutating func restart() {}
  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? { nil }
  package static func startsFrame(_ payload: ByteBuffer) -> Bool { false }
}
