import Media
import NIOCore
import RoomServer
import Testing

@Suite("The frames that a gateway replays")
struct RecentFramesTests {
  private func frame(
    _ number: Int, isKeyframe: Bool = false, stream: Int = 1, codec: Codec = .vp8, bytes: Int = 100
  ) -> EncodedFrame {
    EncodedFrame(
      owner: "1", stream: stream, codec: codec, time: MediaTime(ticks: Int64(number) * 3_000, rate: codec.clockRate),
      payload: ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: bytes), isKeyframe: isKeyframe,
      arrival: .now)
  }

  /// Five frames from a keyframe on.
  private func started() -> RecentFrames {
    var recent = RecentFrames()
    for number in 0..<5 { _ = recent.add(frame(number, isKeyframe: number == 0)) }
    return recent
  }

  @Test("a new viewer needs the frames from the last keyframe on, of each stream")
  func groups() {
    var recent = started()
    #expect(recent.groups.map { $0.frames.count } == [5])
    #expect(recent.add(frame(5, isKeyframe: true)))
    #expect(recent.add(frame(9, stream: 2)))
    #expect(recent.add(frame(10, isKeyframe: true, stream: 2)))
    #expect(recent.groups.map { $0.frames.count } == [1, 1])
    #expect(recent.groups.map { $0.frames.first?.stream } == [1, 2])
  }

  @Test("frames that repeat the group are not new, and those that follow are")
  func repeated() {
    var recent = started()
    #expect(!(0..<5).map { recent.add(frame($0, isKeyframe: $0 == 0)) }.contains(true))
    #expect(recent.add(frame(5)))
    #expect(recent.groups.map { $0.frames.count } == [6])
    // A second time, with a new frame in the middle: the source's frames go on.
    #expect(!recent.add(frame(0, isKeyframe: true)))
    #expect(!recent.add(frame(1)))
    #expect(recent.add(frame(77)))
    #expect(recent.groups.map { $0.frames.count } == [7])
  }

  @Test("a still camera whose frames look alike is no repetition")
  func alike() {
    var recent = started()
    #expect(recent.add(frame(4)))
    #expect(recent.add(frame(4)))
    #expect(recent.groups.map { $0.frames.count } == [7])
  }

  @Test("audio is never kept, and neither are more than 16 MiB, 1,000 frames or 10 s of a stream, or a 17th stream")
  func bounds() {
    var recent = RecentFrames()
    for number in 0..<100 { #expect(recent.add(frame(number, isKeyframe: true, codec: .opus))) }
    #expect(recent.groups.isEmpty)
    for number in 0..<17 { _ = recent.add(frame(number, isKeyframe: number == 0, bytes: 1 << 20)) }
    #expect(recent.groups.isEmpty)
    for number in 0...301 { _ = recent.add(frame(number, isKeyframe: number == 0)) }
    #expect(recent.groups.isEmpty)
    for stream in 1...40 { #expect(recent.add(frame(0, isKeyframe: true, stream: stream))) }
    #expect(recent.groups.count == RecentFrames.maximumStreams)
  }
}
