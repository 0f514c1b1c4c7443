import Media
import NIOCore
import Recorder
import Testing

@Suite("Video validator")
struct VideoFrameValidatorTests {
  /// The header of a keyframe (RFC 6386, 9.1) and a few meaningless bytes.
  static func keyframe(width: UInt16, height: UInt16) -> ByteBuffer {
    var bytes = ByteBuffer(bytes: [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A])
    bytes.writeInteger(width, endianness: .little)
    bytes.writeInteger(height, endianness: .little)
    bytes.writeRepeatingByte(0, count: 8)
    return bytes
  }

  private func frame(_ payload: ByteBuffer) -> EncodedFrame {
    EncodedFrame(
      owner: ParticipantID("anna"), codec: .vp8, time: MediaTime(ticks: 0, rate: 90_000), payload: payload,
      isKeyframe: true, arrival: Script.beginning)
  }

  @Test(
    "a frame of the maximum size is admitted", arguments: [(4_096, 4_096), (16, 4_096), (1, 1)] as [(UInt16, UInt16)])
  func largest(width: UInt16, height: UInt16) {
    var validator = VideoFrameValidator()
    let passed = validator.admit(frame(Self.keyframe(width: width, height: height)))
    #expect(passed?.size == VideoSize(width: Int(width), height: Int(height)))
  }

  @Test(
    "a larger frame and its dependents are rejected until a decodable keyframe arrives",
    arguments: [(4_097, 16), (16, 4_097), (16_383, 16_383), (0, 16), (16, 0)] as [(UInt16, UInt16)])
  func tooLarge(width: UInt16, height: UInt16) {
    var validator = VideoFrameValidator()
    let delta = ByteBuffer(bytes: [0x11, 0x02, 0x00, 1, 2, 3])
    #expect(validator.admit(frame(Self.keyframe(width: 64, height: 64))) != nil)
    #expect(validator.admit(frame(delta)) != nil)
    #expect(validator.admit(frame(Self.keyframe(width: width, height: height))) == nil)
    #expect(validator.admit(frame(delta)) == nil)
    #expect(validator.refused == 2)
    let next = validator.admit(frame(Self.keyframe(width: 64, height: 64)))
    #expect(next?.gap == MediaGap(.waitingForKeyframe, framesDropped: 2))
    #expect(validator.admit(frame(delta))?.gap == nil)
  }

  @Test("frames rejected before the first admitted one are no gap")
  func beginning() {
    var validator = VideoFrameValidator()
    #expect(validator.admit(frame(ByteBuffer(bytes: [0x11, 0x02, 0x00, 1]))) == nil)
    #expect(validator.admit(frame(Self.keyframe(width: 64, height: 64)))?.gap == nil)
  }
}
