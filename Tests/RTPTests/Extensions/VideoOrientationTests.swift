import NIOCore
import RTP
import Testing

@Suite("The orientation of video in RTP")
struct VideoOrientationTests {
  @Test("each value of the byte is read and written back; the upper bits are ignored")
  func bytes() throws {
    for byte in UInt8.min...UInt8.max {
      var extensions = RTPHeaderExtensions()
      extensions[13] = ByteBuffer(bytes: [byte])
      let element = try #require(extensions.videoOrientation(13))
      #expect(element.quarterTurns == Int(byte & 3))
      #expect(element.isFlipped == (byte & 4 != 0))
      #expect(element.isBackFacing == (byte & 8 != 0))
      extensions.setVideoOrientation(element, 13)
      #expect(extensions[13] == ByteBuffer(bytes: [byte & 0x0F]))
    }
  }

  @Test("an extension that was not negotiated, is missing, or has another length, is absent")
  func absent() {
    var extensions = RTPHeaderExtensions()
    extensions[13] = ByteBuffer(bytes: [1])
    #expect(extensions.videoOrientation(nil) == nil && extensions.videoOrientation(12) == nil)
    extensions[13] = ByteBuffer(bytes: [1, 0])
    #expect(extensions.videoOrientation(13) == nil)
    extensions.setVideoOrientation(nil, 13)
    #expect(extensions[13] == nil)
  }
}
