import Bitstream
package import NIOCore

/// Frames of VP9, and superframes of several.
package enum VP9Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? {
    (try? VP9Superframe(parsing: frame)).flatMap(VideoHeader.init)
  }

  /// The only profile that is negotiated has 8 bits and colours at half the width and height.
  package static func obstacle(toSending keyframe: ByteBuffer) -> String? {
    guard let superframe = try? VP9Superframe(parsing: keyframe), let first = superframe.frames.first,
      let header = try? VP9FrameHeader(parsing: first), header.profile > 0
    else { return nil }
    return "its video is VP9 of profile \(header.profile)"
  }

  package static func codecString(of keyframe: ByteBuffer, size: VideoSize?) -> String? {
    size.map { "vp09.00.\(level(of: $0)).08" }
  }

  /// The lowest level that has frames of this size, by their area (VP9 levels, Annex A). The bitstream does not tell the level.
  private static func level(of size: VideoSize) -> Int {
    let levels: [(area: Int, level: Int)] = [
      (36_864, 10), (73_728, 11), (122_880, 20), (245_760, 21), (552_960, 30), (983_040, 31), (2_228_224, 40),
      (8_912_896, 50),
    ]
    let area = size.width &* size.height
    return levels.first { area <= $0.area }?.level ?? 60
  }
}
