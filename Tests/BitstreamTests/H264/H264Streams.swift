import Bitstream
import NIOCore

/// Parameter sets and slices that libx264 164 wrote for ffmpeg 5.1's `testsrc2`, with the options that each comment names. A slice has
/// its first 12 bytes only.
enum H264Streams {
  /// 320x180, `-profile:v high -bf 2`.
  static let high = (
    sequence: bytes("6764000dacd941419f9f0110000003001000000303c0f1429960"), picture: bytes("68ebe3cb22c0"),
    slices: [
      bytes("65888400 21ffd3d666e7691c"), bytes("419a226c 42dfd1c7ad03d1ff"), bytes("019e4179 0b7ff1108c96e5f3"),
    ]
  )
  /// 642x362, `-profile:v main -bf 0`.
  static let main = (
    sequence: bytes("674d401ed900a42fe224c044000003000400000300f03c58b920"), picture: bytes("68ebc3cb20")
  )
  /// 320x180, `-profile:v baseline -tune zerolatency`: two slices in each frame.
  static let baseline = (
    sequence: bytes("6742c00dd901419f9f0110000003001000000303c8f142a480"), picture: bytes("68cb83cb20"),
    slices: [
      bytes("65888423f1088ab830217e02"), bytes("6503c888404af118a0002a2f"), bytes("419a3839fe19ad6100022bd6"),
      bytes("4103c9a381b784a08410a04d"), bytes("419a540c7fc17f775ac2778a"),
    ]
  )
  /// 320x180, `-pix_fmt yuv422p10le`.
  static let tenBits = bytes("677a000db6cb202833f1b80880000003000008000003001e078a1524")
  /// 320x180, `-pix_fmt yuv444p -x264-params cqm=jvt`.
  static let scaled = bytes("67f4000d9196405067e370110000030001000003003c0f142a48")
  /// 320x240, interlaced, with the parameters of a decoder's buffer: `-flags +ildct+ilme -x264-params tff=1:nal-hrd=vbr…`.
  static let interlaced = bytes("67640015acd941410fcb80880000030008000003032301000f420003d0949a701f142996")

  /// Returns a frame of NAL units, each after its length.
  static func frame(_ units: [ByteBuffer]) -> ByteBuffer {
    var frame = ByteBuffer()
    for unit in units { H264NALUnits.append(unit, to: &frame) }
    return frame
  }
}
