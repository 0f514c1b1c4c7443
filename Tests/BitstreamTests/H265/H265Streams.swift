import Bitstream
import NIOCore

/// Parameter sets and slices that x265 3.5 wrote for ffmpeg 5.1's `testsrc2`, with the options that each comment names. A slice has
/// its first 8 bytes only.
enum H265Streams {
  /// 320x180, `-preset ultrafast -x265-params bframes=3:keyint=20`: groups of frames that begin with a CRA picture have leading ones.
  static let open = (
    video: bytes("40010c01ffff01600000030090000003000003003c959409"),
    sequence: bytes(
      "42010101600000030090000003000003003ca00a080c1f3e595952930bc05a020000030002000003003c10"),
    picture: bytes("4401c073c189"),
    slices: [
      "2801ac2130ba0ae9", "0201d02149881098", "0201e04495608121", "0001e024fd7a240a", "0001e066b5e08141",
      "0201d04092556204", "0201e0c225555820", "0001e0a6f5d7a240", "0001e0e22d578205", "0201d060b2555620",
      "0201e14225525608", "0001e126f5d7a240", "0001e1622d578205", "0201d080b2555620", "0201e1c225525608",
      "0001e1a6f5d7a240", "0001e1e22d578205", "2a01ac5059088918", "1201e24225525608", "1001e226f5d7a240",
      "1001e2622d578205", "0201d0c149881098",
    ].map(bytes)
  )
  /// The picture order counts of these slices, as ffmpeg's `trace_headers` shows them.
  static let openCounts: [Int64] = [
    0, 4, 2, 1, 3, 8, 6, 5, 7, 12, 10, 9, 11, 16, 14, 13, 15, 20, 18, 17, 19, 24,
  ]
  /// 320x180, `-preset ultrafast -tune zerolatency -x265-params slices=2`: two slices in each frame.
  static let slices = (
    video: bytes("40010c01ffff01600000030090000003000003003cba0240"),
    sequence: bytes("42010101600000030090000003000003003ca00a080c1f3e5ba4a4c2f0168080000003008000000f04"),
    picture: bytes("4401c0718212"),
    slices: ["2801adb17d7ac940", "28012f36c576fdec", "0201d0097882989e", "02015e4025e20a62"].map(bytes)
  )
  /// 642x362, `-x265-params temporal-layers=1:bframes=4`: two temporal sub-layers, and a conformance window in both directions.
  static let layers = (
    video: bytes("40010c02ffff01600000030090000003000003003f00009598acc048"),
    sequence: bytes(
      "42010201600000030090000003000003003f0000a005120171c92659598acd24995e02d010000003001000000301e080"),
    picture: bytes("4401c172b46240")
  )
  /// 320x180, `-pix_fmt yuv420p10le`.
  static let tenBits = bytes("42010102200000030090000003000003003ca00a080c1f3b65ba4a4c2f016808000003000800000300f040")
  /// 320x180, `-pix_fmt yuv444p`.
  static let fullColour = bytes(
    "4201010408000003009e0800000300003c9001410183e372dd25261780b4040000030004000003007820")

  /// Returns a frame of NAL units, each after its length.
  static func frame(_ units: [ByteBuffer]) -> ByteBuffer {
    var frame = ByteBuffer()
    for unit in units { NALUnits.append(unit, to: &frame) }
    return frame
  }

  static func sets(_ units: [ByteBuffer]) -> H265ParameterSets {
    var sets = H265ParameterSets()
    for unit in units { sets.insert(unit) }
    return sets
  }
}
