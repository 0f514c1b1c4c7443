import Composition
import Media
import Testing

@Suite("when tiles move")
struct LayoutScheduleTests {
  private func changes(
    _ choice: LayoutChoice, _ tiles: [LayoutTile], speech: [SpeechSpan] = [], speakers: [SpeakerChange] = [],
    rate: FrameRate = .standard
  ) -> [LayoutChange] {
    let layout = Layout(choice, tiles: tiles, size: Sample.size)
    return Array(LayoutSchedule(layout, speech: speech, speakers: speakers, rate: rate))
  }

  private func summary(_ changes: [LayoutChange]) -> [String] {
    changes.map { change in "\(change.frame): \(change.placements.map { "\($0.tile)" }.joined(separator: " "))" }
  }

  @Test(
    "tiles appear in the first frame that is not earlier, and vanish in the first one that is not earlier than their end"
  )
  func frames() {
    let (second, frame) = (Sample.second, Sample.second / 30)
    var tiles = Sample.cameras(3)
    tiles[0].presence = [0..<10 * second]
    // From just after frame 60 to just before frame 120, and exactly from 90 to 240.
    tiles[1].presence = [60 * frame + 1..<120 * frame - 1]
    tiles[2].presence = [90 * frame..<240 * frame]
    #expect(summary(changes(.grid, tiles)) == ["0: 0", "61: 0 1", "90: 0 1 2", "120: 0 2", "240: 0", "300: "])
  }

  @Test("a composition in which nobody is there yet begins with an empty frame")
  func empty() {
    #expect(summary(changes(.grid, [])) == ["0: "])
    #expect(summary(changes(.grid, [Sample.camera(0, from: 1, to: 2)])) == ["0: ", "30: 0", "60: "])
  }

  @Test("who returns has the place of their first appearance again; what is shorter than a frame is not shown")
  func returning() {
    var tiles = [Sample.camera(0, from: 1, to: 9), Sample.camera(1, from: 0, to: 2)]
    tiles[1].presence += [4 * Sample.second..<6 * Sample.second, 100..<200, 6 * Sample.second..<7 * Sample.second]
    #expect(summary(changes(.grid, tiles)) == ["0: 1", "30: 1 0", "60: 0", "120: 1 0", "210: 0", "270: "])
    tiles[0].presence = [Sample.second + 1..<Sample.second + 2]
    #expect(summary(changes(.grid, [tiles[0]])) == ["0: "])
  }

  @Test("times before zero belong to frame 0, and the order of appearance stays")
  func beforeZero() {
    var tiles = Sample.cameras(2)
    tiles[0].presence = [-5 * Sample.second..<Sample.second]
    tiles[1].presence = [-9 * Sample.second ..< -8 * Sample.second, 0..<Sample.second]
    let layout = changes(
      .speaker, tiles, speech: [SpeechSpan(user: 1, start: -9 * Sample.second, end: -8 * Sample.second)],
      speakers: [SpeakerChange(time: -9 * Sample.second, user: 0), SpeakerChange(time: -1, user: 1)])
    #expect(summary(layout) == ["0: 1 0", "30: "])
  }

  @Test("the speaker changes in the last frame before it, never later")
  func speakers() {
    let frame = Sample.second / 30
    let speakers = [
      SpeakerChange(time: 10 * frame, user: 1), SpeakerChange(time: 20 * frame - 1, user: 0),
      SpeakerChange(time: 30 * frame + 1, user: 0),
    ]
    #expect(
      summary(changes(.speaker, Sample.cameras(2), speakers: speakers)) == ["0: 0 1", "10: 1 0", "19: 0 1", "3000: "])
  }

  @Test("speech moves no tile of a grid with room for all, and in a larger one who speaks is shown")
  func speech() {
    let speech = [
      SpeechSpan(user: 3, start: Sample.second, end: 2 * Sample.second),
      SpeechSpan(user: 26, start: 2 * Sample.second, end: 3 * Sample.second),
      SpeechSpan(user: 25, start: 3 * Sample.second + 1, end: 3 * Sample.second + 1),
    ]
    #expect(changes(.grid, Sample.cameras(25), speech: speech).map(\.frame) == [0, 3000])
    let large = changes(.grid, Sample.cameras(27), speech: speech)
    #expect(large.map(\.frame) == [0, 60, 3000])
    #expect(large[1].placements.map(\.tile) == Array(0..<24) + [26])
  }

  @Test("who still speaks comes before who has stopped")
  func speaking() {
    // User 0 speaks all the time, all others one after the other.
    let speech =
      [SpeechSpan(user: 0, start: 0, end: 90 * Sample.second)]
      + (1..<30).map { SpeechSpan(user: $0, start: Int64($0) * Sample.second, end: Int64($0 + 1) * Sample.second) }
    let last = changes(.grid, Sample.cameras(30), speech: speech).last { $0.frame < 3000 }
    #expect(last?.frame == 870)
    #expect(last?.placements.map(\.tile) == [0] + Array(6..<30))
  }

  @Test("a cursor has the placements of each frame, also when frames are left out")
  func cursor() {
    let tiles = [Sample.camera(0, from: 0, to: 2), Sample.camera(1, from: 1, to: 3)]
    let schedule = LayoutSchedule(
      Layout(.grid, tiles: tiles, size: Sample.size), speech: [], speakers: [], rate: .standard)
    for stride in [1, 7, 61] {
      var cursor = LayoutCursor(schedule)
      for frame in Swift.stride(from: 0, to: 120, by: stride) {
        let expected = (frame < 60 ? [0] : []) + (frame >= 30 && frame < 90 ? [1] : [])
        #expect(cursor.placements(at: Int64(frame)).map(\.tile) == expected)
      }
    }
  }

  @Test("at 29.97 frames a second each change is in the frame that its time gives, after a day as well")
  func dropFrameRate() {
    let rate = FrameRate(numerator: 30_000, denominator: 1001)
    var tile = Sample.camera(0)
    let day = 86_400 * Sample.second
    tile.presence = [day - Sample.second..<day]
    #expect(changes(.grid, [tile], rate: rate).map(\.frame) == [0, 2_589_381, 2_589_411])
  }

  @Test("a long call with many speeches has its changes one by one")
  func long() {
    let users = 200
    let tiles = (0..<users).map { Sample.camera($0, from: 0, to: 86_400) }
    let speech = (0..<20_000).map { index in
      let start = Int64(index) * 4 * Sample.second
      return SpeechSpan(user: index * 37 % users, start: start, end: start + Sample.second)
    }
    let speakers = speech.map { SpeakerChange(time: $0.start, user: $0.user) }
    let schedule = LayoutSchedule(
      Layout(.speaker, tiles: tiles, size: Sample.size), speech: speech, speakers: speakers, rate: .standard)
    var previous: Int64 = -1
    for change in schedule.prefix(200) {
      #expect(change.frame > previous && change.placements.count <= 6)
      previous = change.frame
    }
    #expect(previous > 0)
  }
}
