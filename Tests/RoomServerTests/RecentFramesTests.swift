import Media
import NIOCore
import PeerEngine
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

  /// Adds frames, and returns which of them are new.
  @discardableResult
  private func add(_ frames: [EncodedFrame], to recent: inout RecentFrames) -> [Bool] {
    var areNew: [Bool] = []
    for frame in frames { areNew.append(recent.add(frame)) }
    return areNew
  }

  private func sizes(_ recent: RecentFrames) -> [Int] { recent.groups.map { $0.frames.count } }

  /// Five frames from a keyframe on.
  private var group: [EncodedFrame] { (0..<5).map { frame($0, isKeyframe: $0 == 0) } }

  @Test("a new viewer needs the frames from the last keyframe on, of each stream")
  func groups() {
    var recent = RecentFrames()
    add(group, to: &recent)
    #expect(sizes(recent) == [5])
    let more = [
      frame(5, isKeyframe: true), frame(9, stream: 2), frame(10, isKeyframe: true, stream: 2), frame(11, stream: 2),
    ]
    #expect(add(more, to: &recent) == [true, true, true, true])
    #expect(sizes(recent) == [1, 2])
    #expect(recent.groups.map { $0.frames.first?.stream } == [1, 2])
  }

  @Test("frames that repeat the group are not new, and those that follow are")
  func repeated() {
    var recent = RecentFrames()
    add(group, to: &recent)
    #expect(!add(group, to: &recent).contains(true))
    #expect(add([frame(5)], to: &recent) == [true])
    #expect(sizes(recent) == [6])
    // A second time, with a new frame in the middle: the source's frames go on.
    #expect(add([frame(0, isKeyframe: true), frame(1), frame(77)], to: &recent) == [false, false, true])
    #expect(sizes(recent) == [7])
  }

  @Test("a file that is played again and again repeats nothing, although each time has the same frames")
  func looped() {
    var recent = RecentFrames()
    for loop in 0..<3 {
      let frames = (0..<5).map { number in
        var frame = frame(number, isKeyframe: number == 0)
        frame.time = MediaTime(ticks: Int64(loop * 5 + number) * 3_000, rate: 90_000)
        return frame
      }
      #expect(add(frames, to: &recent) == [true, true, true, true, true])
      #expect(recent.groups.first?.frames.first?.time.ticks == Int64(loop) * 15_000)
    }
    // Repeated within the time of one frame, as a participant does it.
    let repeated = (0..<5).map { number in
      var frame = frame(number, isKeyframe: number == 0)
      frame.time = MediaTime(ticks: 14 * 3_000 + Int64(number + 1) * 540, rate: 90_000)
      return frame
    }
    #expect(!add(repeated, to: &recent).contains(true))
  }

  @Test("a still camera whose frames look alike repeats nothing")
  func alike() {
    var recent = RecentFrames()
    add(group, to: &recent)
    #expect(add([frame(4), frame(4)], to: &recent) == [true, true])
    #expect(sizes(recent) == [7])
  }

  @Test("audio is never kept, and neither are more than 16 MiB, 1,000 frames or 10 s of a stream, or a 17th stream")
  func bounds() {
    var recent = RecentFrames()
    add((0..<100).map { frame($0, isKeyframe: true, codec: .opus) }, to: &recent)
    #expect(recent.groups.isEmpty)
    add((0..<17).map { frame($0, isKeyframe: $0 == 0, bytes: 1 << 20) }, to: &recent)
    #expect(recent.groups.isEmpty)
    add((0...301).map { frame($0, isKeyframe: $0 == 0) }, to: &recent)
    #expect(recent.groups.isEmpty)
    add((1...40).map { frame(0, isKeyframe: true, stream: $0) }, to: &recent)
    #expect(recent.groups.count == RecentFrames.maximumStreams)
  }
}
