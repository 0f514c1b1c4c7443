import LiveSource
import Testing

@Suite("Bitrate allocation")
struct BitrateAllocationTests {
  @Test(
    "audio is allocated first, and at lower bitrates when less is available",
    arguments: [
      (2_000_000, 48_000), (150_000, 32_000), (100_000, 24_000), (50_000, 16_000), (20_000, 10_400), (0, 8_000),
    ])
  func audio(total: Int, audio: Int) {
    #expect(BitrateAllocation(total: total, hasAudio: true, hasVideo: true).audio == audio)
    #expect(BitrateAllocation(total: total, hasAudio: true, hasVideo: false).audio == audio)
    #expect(BitrateAllocation(total: total, hasAudio: false, hasVideo: true).audio == 0)
  }

  @Test(
    "audio, video and their headers fit the available bitrate",
    arguments: [60_000, 99_999, 110_000, 199_999, 200_000, 300_000, 1_000_001, 5_000_000])
  func fits(total: Int) {
    let split = BitrateAllocation(total: total, hasAudio: true, hasVideo: true)
    // 50 audio packets, and video in packets of 1,100 bytes, of which fifteen a second are short.
    let headers = 24 * 8 * (50 + 15 + split.video / 8_800)
    #expect(split.audio + split.video + headers <= total)
    #expect(split.audio + split.video + headers >= total - 1_000)
  }

  @Test("each encoder always has a minimum bitrate", arguments: [Int.min, -1, 0, 1_000, .max])
  func extremes(total: Int) {
    let split = BitrateAllocation(total: total, hasAudio: true, hasVideo: true)
    #expect(split.audio >= 8_000)
    #expect(split.video >= 10_000)
    #expect(BitrateAllocation(total: total, hasAudio: true, hasVideo: false).video == 0)
  }
}
