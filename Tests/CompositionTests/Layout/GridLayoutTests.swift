import Composition
import Media
import Testing

@Suite("the layouts grid and row")
struct GridLayoutTests {
  @Test(
    "the columns are those with which tiles of 16:9 are largest, and the last row is centred",
    arguments: [
      (1, ["0 0 1280 720"]),
      (2, ["0 180 638 358", "642 180 638 358"]),
      (3, ["2 0 636 358", "642 0 636 358", "322 362 636 358"]),
      (4, ["2 0 636 358", "642 0 636 358", "2 362 636 358", "642 362 636 358"]),
      (5, ["0 120 424 238", "428 120 424 238", "856 120 424 238", "214 362 424 238", "642 362 424 238"]),
    ])
  func grid(count: Int, places: [String]) {
    #expect(Sample.placements(.grid, Sample.cameras(count)).map(\.text) == places)
  }

  @Test("nobody is an empty frame")
  func nobody() {
    #expect(Sample.placements(.grid, []) == [])
    #expect(Sample.placements(.row, []) == [])
  }

  @Test(
    "tiles of any number are even, equal, 16:9, inside, at least 4 pixels from each other, and at most 25",
    arguments: [
      VideoSize(width: 1280, height: 720), VideoSize(width: 720, height: 1280), VideoSize(width: 642, height: 362),
      VideoSize(width: 3840, height: 2160), VideoSize(width: 320, height: 180),
    ])
  func properties(size: VideoSize) {
    for count in 1...40 {
      for choice in [LayoutChoice.grid, .row] {
        let placements = Sample.placements(choice, Sample.cameras(count), size: size)
        #expect(placements.count == min(25, count))
        #expect(placements.allSatisfy { $0.isEven && $0.isInside(size) })
        #expect(Set(placements.map { VideoSize(width: $0.width, height: $0.height) }).count == 1)
        #expect(placements.allSatisfy { abs($0.width * 9 - $0.height * 16) <= 2 * 16 + 9 })
        for (index, one) in placements.enumerated() {
          var wider = one
          (wider.x, wider.y, wider.width, wider.height) = (one.x - 4, one.y - 4, one.width + 8, one.height + 8)
          // One of the sides has a gap of at least 4 pixels.
          #expect(placements[..<index].allSatisfy { !wider.overlaps($0) })
        }
      }
    }
  }

  @Test("when there are more than 25, shared screens and those who spoke last are shown, by first appearance")
  func manyUsers() {
    let tiles = Sample.cameras(29) + [Sample.screen(of: 28)]
    let spoke = Dictionary(uniqueKeysWithValues: (5..<29).map { ($0, Int64(100 - $0)) })
    let placements = Sample.placements(.grid, tiles, lastSpeech: spoke)
    #expect(placements.map(\.tile) == [29] + Array(5..<29))
    // Of those who never spoke, those who came first stay.
    #expect(Sample.placements(.grid, Sample.cameras(27)).map(\.tile) == Array(0..<25))
    #expect(Sample.placements(.row, Sample.cameras(27), lastSpeech: [26: 1]).map(\.tile) == Array(0..<24) + [26])
  }

  @Test("a shared screen has twice the width and height of the others and comes first")
  func screen() {
    let tiles = [Sample.camera(0), Sample.camera(1), Sample.screen(of: 1), Sample.camera(2)]
    let placements = Sample.placements(.grid, tiles)
    #expect(placements.map(\.tile) == [2, 0, 1, 3])
    #expect(placements.map(\.text) == ["8 2 840 476", "852 2 418 236", "852 242 418 236", "430 482 418 236"])
    // Alone it fills the output.
    #expect(Sample.placements(.grid, [Sample.screen(of: 0)]).map(\.text) == ["0 0 1280 720"])
    #expect(Sample.placements(.row, tiles).map(\.width) == [316, 316, 316, 316])
  }

  @Test("screens of any number leave no overlaps")
  func screens() {
    for count in 1...25 {
      for screens in 0...min(count, 6) {
        let tiles = (0..<count).map { $0 < screens ? Sample.screen(of: $0) : Sample.camera($0) }
        let placements = Sample.placements(.grid, tiles)
        #expect(placements.count == count && placements.allSatisfy { $0.isEven && $0.isInside(Sample.size) })
        for (index, one) in placements.enumerated() {
          #expect(placements[..<index].allSatisfy { !one.overlaps($0) })
        }
      }
    }
  }

  @Test("a row has all tiles beside each other, in the middle of the height")
  func row() {
    #expect(Sample.placements(.row, Sample.cameras(2)).map(\.text) == ["0 180 638 358", "642 180 638 358"])
    #expect(
      Sample.placements(.row, Sample.cameras(4)).map(\.text) == [
        "2 272 316 176", "322 272 316 176", "642 272 316 176", "962 272 316 176",
      ])
  }

  @Test("an output that is too small for the tiles shows none of them")
  func tooSmall() {
    #expect(Sample.placements(.row, Sample.cameras(25), size: VideoSize(width: 64, height: 64)) == [])
    #expect(Sample.placements(.grid, Sample.cameras(2), size: VideoSize(width: 1, height: 0)) == [])
  }
}
