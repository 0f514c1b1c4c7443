import Media
import NIOCore
import PeerEngine
import TestSupport
import Testing

@Suite("Payloads of a frame")
struct PayloadRoundTripTests {
  /// A keyframe of 640x480 and a frame that depends on it, of each codec of video: headers and any bytes.
  private static let frames: [(codec: Codec, keyframe: [UInt8], next: [UInt8])] = [
    (.vp8, [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01], [0x11, 0, 0]),
    (.vp9, [0x82, 0x49, 0x83, 0x42, 0x20, 0x27, 0xF0, 0x1D, 0xF0, 0], [0x86, 0, 0x40, 0x02, 0]),
  ]

  @Test("what the writer of a codec splits, its reader assembles, with the header parsed", arguments: 0..<2)
  func roundTrip(index: Int) throws {
    let (codec, keyframe, next) = Self.frames[index]
    var generator = SystemRandomNumberGenerator()
    var writer = PayloadWriter(codec, using: &generator)
    var reader = PayloadReader(codec)
    let now = MonotonicInstant.now
    for number in 0..<4 {
      let body = number == 0 ? keyframe : next
      let frame = ByteBuffer(bytes: body + [UInt8](repeating: 7, count: 3_000))
      let payloads = try required(writer.split(frame, maximumSize: 1_200))
      #expect(payloads.count == 3)
      let start = PayloadReader.keyframeStart(in: payloads[0], of: codec)
      #expect(start?.size == (number == 0 ? VideoSize(width: 640, height: 480) : nil))
      #expect(PayloadReader.startsFrame(payloads[0], of: codec) && !PayloadReader.startsFrame(payloads[1], of: codec))
      for (position, payload) in payloads.enumerated() {
        reader.add(
          ReceivedPacket(
            payload: payload, timestamp: UInt32(number * 3_000), marker: position == payloads.count - 1, arrival: now))
      }
      let item = reader.next()
      guard case .frame(let assembled)? = item else {
        Issue.record("Frame \(number) of \(codec) is missing.")
        return
      }
      #expect(assembled.payload == frame && assembled.isKeyframe == (number == 0))
      let parsed = FrameHeader(parsing: frame, of: codec)
      #expect(assembled.header.isKeyframe == parsed.isKeyframe)
      #expect(assembled.header.video?.isShown == true && parsed.video?.isShown == true)
      // The reader also knows the size of a VP9 frame that has the size of its reference.
      let size = codec == .vp9 ? VideoSize(width: 640, height: 480) : parsed.video?.size
      #expect(assembled.header.video?.size == size)
    }
    let needsKeyframe = reader.needsKeyframe
    #expect(!needsKeyframe)
  }
}
