import Bitstream
import Media
import NIOCore
import Testing

@Suite("The header of a frame")
struct FrameHeaderTests {
  /// A VP8 keyframe's header (RFC 6386, 9.1) of 640x480 and two bytes more.
  private static let keyframe: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01, 1, 2]

  private func header(_ bytes: [UInt8], _ codec: Codec) -> FrameHeader {
    FrameHeader(parsing: ByteBuffer(bytes: bytes), of: codec)
  }

  @Test("a keyframe of VP8 has a size, and its other frames have none")
  func vp8() throws {
    let keyframe = try #require(header(Self.keyframe, .vp8).video)
    #expect(keyframe.isKeyframe && keyframe.isShown)
    #expect(keyframe.size == VideoSize(width: 640, height: 480))
    let shown = try #require(header([0x11, 0, 0], .vp8).video)
    #expect(!shown.isKeyframe && shown.isShown && shown.size == nil)
    let hidden = try #require(header([0x01, 0, 0], .vp8).video)
    #expect(!hidden.isShown)
  }

  @Test(
    "what is no frame of VP8 is unreadable: too short, without a start code, or of size 0",
    arguments: [
      [], [0x11, 0], [0x10, 0, 0, 1, 2, 3, 4, 5, 6, 7], Array(keyframe.prefix(9)),
      [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0, 0, 0xE0, 0x01], [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0, 0],
    ] as [[UInt8]])
  func unreadable(bytes: [UInt8]) {
    #expect(header(bytes, .vp8) == .unreadable)
    #expect(!header(bytes, .vp8).isKeyframe)
  }

  /// A VP9 keyframe of 640x480 (bitstream specification, 6.2), and a frame predicted from it.
  private static let vp9: (keyframe: [UInt8], next: [UInt8]) = (
    [0x82, 0x49, 0x83, 0x42, 0x20, 0x27, 0xF0, 0x1D, 0xF0, 0], [0x86, 0, 0x40, 0x02, 0]
  )

  @Test("a keyframe of VP9 has a size, and its other frames have none")
  func vp9() throws {
    let keyframe = try #require(header(Self.vp9.keyframe, .vp9).video)
    #expect(keyframe == VideoHeader(isKeyframe: true, size: VideoSize(width: 640, height: 480)))
    let next = try #require(header(Self.vp9.next, .vp9).video)
    #expect(next == VideoHeader(isKeyframe: false, size: nil))
    #expect(header([0x22, 0x49], .vp9) == .unreadable)
    #expect(header(Array(Self.vp9.keyframe.prefix(8)), .vp9) == .unreadable)
  }

  @Test("a superframe of VP9 is shown if its last frame is")
  func superframe() throws {
    // The keyframe is not shown: show_frame is the seventh bit.
    let hidden = [0x80] + Self.vp9.keyframe.dropFirst()
    let marker: UInt8 = 0xC1
    let index = [marker, UInt8(hidden.count), UInt8(Self.vp9.next.count), marker]
    let both = try #require(header(hidden + Self.vp9.next + index, .vp9).video)
    #expect(both == VideoHeader(isKeyframe: true, size: VideoSize(width: 640, height: 480)))
    #expect(try #require(header(hidden, .vp9).video).isShown == false)
    #expect(header(hidden + Self.vp9.next + [marker, 200, 200, marker], .vp9) == .unreadable)
  }

  @Test("a packet of Opus has a duration and channels, and may be silent")
  func opus() throws {
    // Configuration 31: 20 ms of CELT; code 3 with six of them.
    let stereo = try #require(header([0xFC, 1, 2], .opus).audio)
    #expect(stereo.duration == .milliseconds(20) && stereo.channels == 2 && !stereo.isSilent)
    #expect(try #require(header([0xFB, 6, 0, 0, 0, 0, 0, 0], .opus).audio).duration == .milliseconds(120))
    let silent = try #require(header([0xF8], .opus).audio)
    #expect(silent.isSilent && silent.channels == 1)
    #expect(header([0xF8], .opus).opus == (try OpusPacket(parsing: ByteBuffer(bytes: [0xF8]))))
    #expect(header([], .opus) == .unreadable)
  }

  @Test("every duration of a packet is exact", arguments: 0..<32)
  func durations(configuration: UInt8) throws {
    let packet = try OpusPacket(parsing: ByteBuffer(bytes: [configuration << 3, 1, 2, 3]))
    #expect(AudioHeader(packet).duration == .microseconds(packet.duration * 1_000 / 48))
  }

  @Test("a packet whose lengths do not add up is unreadable, but its first bytes state how long it plays")
  func ticks() {
    let packet = ByteBuffer(bytes: [0xF9, 1, 2, 3, 4, 5, 6])
    let broken = ByteBuffer(bytes: [0xF9, 1, 2, 3, 4])
    let whole = FrameHeader(parsing: packet, of: .opus)
    let odd = FrameHeader(parsing: ByteBuffer(bytes: [0xF9, 1, 2, 3]), of: .opus)
    #expect(FrameHeader.ticks(of: packet, .opus, header: whole) == 1_920)
    #expect(odd == .unreadable)
    #expect(FrameHeader.ticks(of: broken, .opus, header: odd) == 1_920)
    #expect(FrameHeader.ticks(of: ByteBuffer(), .opus, header: .unreadable) == nil)
    #expect(FrameHeader.ticks(of: ByteBuffer(bytes: Self.keyframe), .vp8, header: .unreadable) == nil)
  }

  @Test("a frame has the header of its payload, also after that was replaced, and keeps what its source says of it")
  func frame() {
    var frame = EncodedFrame(
      owner: "anna", codec: .vp8, time: MediaTime(ticks: 0, rate: 90_000), payload: ByteBuffer(bytes: [0x11, 0, 0]),
      isKeyframe: true, size: VideoSize(width: 1, height: 1), arrival: .now)
    #expect(frame.header == header([0x11, 0, 0], .vp8))
    #expect(frame.isKeyframe && frame.size == VideoSize(width: 1, height: 1))
    frame.payload = ByteBuffer(bytes: Self.keyframe)
    #expect(frame.header == header(Self.keyframe, .vp8))
    frame.codec = .opus
    #expect(frame.header == header(Self.keyframe, .opus))
  }

  @Test("it is small, because frames are copied often")
  func size() {
    #expect(MemoryLayout<FrameHeader>.size <= 16)
  }
}

@Suite("A value for each kind of media")
struct PerMediaKindTests {
  @Test("audio and video do not affect each other")
  func values() {
    var values = PerMediaKind<[Int]>()
    #expect(values[.audio] == nil && values[.video] == nil)
    values[.audio] = [1]
    values[.video] = [2]
    values[.audio]?.append(3)
    #expect(values[.audio] == [1, 3] && values[.video] == [2])
    #expect(values.mapValues(\.count) == [.audio: 2, .video: 1])
    values[.audio] = nil
    #expect(values.mapValues(\.count) == [.video: 1])
  }
}
