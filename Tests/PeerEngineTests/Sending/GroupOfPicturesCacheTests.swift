import Media
import PeerEngine
import TestSupport
import Testing

@Suite("Group of pictures cache")
struct GroupOfPicturesCacheTests {
  private func frame(_ number: Int, isKeyframe: Bool, bytes: Int = 100, time: Int64? = nil) -> EncodedFrame {
    var generator = SeededGenerator(seed: 1)
    return SyntheticSource.vp8(
      number: number, isKeyframe: isKeyframe, bytes: bytes, time: time ?? Int64(number), arrival: .now,
      using: &generator)
  }

  @Test("the cache holds the frames since the last keyframe, and none before the first keyframe")
  func group() {
    var cache = GroupOfPicturesCache()
    cache.add(frame(0, isKeyframe: false))
    #expect(cache.isEmpty)
    for number in 1...5 { cache.add(frame(number, isKeyframe: number == 1 || number == 4)) }
    #expect(cache.frames.compactMap(SyntheticSource.number) == [4, 5])
  }

  @Test("a group that is too long to replay is dropped until the next keyframe")
  func tooLong() {
    var cache = GroupOfPicturesCache()
    for number in 0...GroupOfPicturesCache.maximumFrames { cache.add(frame(number, isKeyframe: number == 0)) }
    #expect(cache.isEmpty)
    cache.add(frame(2_000, isKeyframe: false))
    #expect(cache.isEmpty)
    cache.add(frame(2_001, isKeyframe: true))
    #expect(cache.frames.count == 1)
    // 300 frames in 10 s can be decoded soon enough; a viewer who decodes more is behind.
    for number in 1..<300 { cache.add(frame(2_001 + number, isKeyframe: false, time: 2_001 + Int64(number) * 3_000)) }
    #expect(cache.frames.count == 300)
    cache.add(frame(2_301, isKeyframe: false, time: 2_001 + 900_000))
    #expect(cache.isEmpty)
    cache.add(frame(2_302, isKeyframe: true))
    cache.add(frame(2_303, isKeyframe: false, bytes: GroupOfPicturesCache.maximumBytes))
    #expect(cache.isEmpty)
  }
}
