import Media
import NIOCore
import Recorder

/// Reads a WebM file block by block, for tests that compare payloads. Other tests check with other programs whether the
/// file is valid.
struct BlockReader {
  struct Block: Hashable {
    var track: UInt8
    var time: Int64
    var isKeyframe: Bool
    var payload: [UInt8]
  }

  struct Cluster: Hashable {
    var time: Int64
    var blocks: [Block] = []
  }

  let clusters: [Cluster]
  var blocks: [Block] { clusters.flatMap(\.blocks) }

  init(_ bytes: [UInt8]) {
    var clusters: [Cluster] = []
    var all = EBMLReader(ByteBuffer(bytes: bytes.dropFirst(Int(MatroskaHeader.segmentStart))))
    while let (head, content) = all.next() {
      guard head.is(.cluster) else { continue }
      var cluster = Cluster(time: 0)
      for (head, var content) in EBMLReader(content) {
        if head.is(.timestamp) { cluster.time = content.readableBytesView.reduce(0) { $0 << 8 | Int64($1) } }
        guard
          head.is(.simpleBlock), let track: UInt8 = content.readInteger(), let relative: Int16 = content.readInteger(),
          let flags: UInt8 = content.readInteger()
        else { continue }
        cluster.blocks.append(
          Block(
            track: track & 0x7F, time: cluster.time + Int64(relative), isKeyframe: flags & 0x80 != 0,
            payload: Array(content.readableBytesView)))
      }
      clusters.append(cluster)
    }
    self.clusters = clusters
  }

  func payloads(_ codec: Codec) -> [[UInt8]] {
    let number = codec == .vp8 ? MatroskaHeader.videoNumber : MatroskaHeader.audioNumber
    return blocks.filter { $0.track == number }.map(\.payload)
  }
}
