import Composition
import Media
import Testing

@Suite("the layout of a file")
struct RegionLayoutTests {
  private func layout(_ text: String, _ tiles: [LayoutTile]) throws -> Layout {
    Layout(.regions(try LayoutFile(parsing: Array(text.utf8), size: Sample.size)), tiles: tiles, size: Sample.size)
  }

  @Test("each region shows the users that it names, in cells that fill it, and a user can be in several regions")
  func regions() throws {
    let text = """
      {"regions": [
        {"x": 0, "y": 0, "width": 960, "height": 720, "users": ["Ann", "id-2"], "fit": "cover"},
        {"x": 960, "y": 0, "width": 320, "height": 720, "exclude": ["user-3"]}]}
      """
    let tiles = [Sample.camera(0), Sample.camera(1, "Ann"), Sample.camera(2), Sample.camera(3)]
    let placements = try layout(text, tiles).placements(at: Sample.moment(of: tiles))
    #expect(placements.map(\.tile) == [1, 2, 0, 1, 2])
    #expect(
      placements.map(\.text) == [
        "0 0 960 358", "0 362 960 358", "960 2 320 236", "960 242 320 236", "960 482 320 236",
      ])
    #expect(placements.map(\.fit) == [.cover, .cover, nil, nil, nil])
  }

  @Test("what has a greater z comes later, whatever the order in the file")
  func order() throws {
    let tiles = [Sample.camera(0), Sample.camera(1)]
    let text = #"{"regions":[{"x":1000,"y":500,"z":2,"users":["user-1"]},{"users":["user-0"]}]}"#
    let placements = try layout(text, tiles).placements(at: Sample.moment(of: tiles))
    #expect(placements.map(\.tile) == [0, 1] && placements.map(\.z) == [0, 2])
  }

  @Test("columns and rows are limits, and the last row is centred")
  func limits() throws {
    let text = #"{"regions":[{"columns":2,"rows":2,"height":400}]}"#
    let three = Sample.cameras(3)
    #expect(
      try layout(text, three).placements(at: Sample.moment(of: three)).map(\.text) == [
        "0 0 638 198", "642 0 638 198", "320 202 638 198",
      ])
    let one = Sample.cameras(1)
    #expect(try layout(text, one).placements(at: Sample.moment(of: one)).map(\.text) == ["0 0 1280 400"])
    let column = try layout(#"{"regions":[{"columns":1}]}"#, Sample.cameras(3))
    #expect(column.placements(at: Sample.moment(of: Sample.cameras(3))).map(\.y) == [2, 242, 482])
  }

  @Test("a region shows cameras only, or shared screens only")
  func content() throws {
    let text = #"{"regions":[{"content":"screen","width":960},{"content":"camera","x":960}]}"#
    let tiles = [Sample.camera(0), Sample.screen(of: 0), Sample.camera(1)]
    let placements = try layout(text, tiles).placements(at: Sample.moment(of: tiles))
    #expect(placements.map(\.tile) == [1, 0, 2])
  }

  /// Which tiles are shown with two cells, by the second.
  private func shown(reuse: String) throws -> [[Int]] {
    let tiles = [
      Sample.camera(0, from: 0, to: 2), Sample.camera(1, from: 0, to: 6), Sample.camera(2, from: 1, to: 6),
      Sample.camera(3, from: 3, to: 6),
    ]
    let layout = try layout(#"{"regions":[{"columns":2,"rows":1,"reuse":"\#(reuse)"}]}"#, tiles)
    var cursor = LayoutCursor(LayoutSchedule(layout, speech: [], speakers: [], rate: .standard))
    return (0..<7).map { second in cursor.placements(at: Int64(second * 30)).map(\.tile) }
  }

  @Test(
    "when there are more users than cells, those stay who were there first, or those come who are newest, or nobody moves up"
  )
  func reuse() throws {
    #expect(try shown(reuse: "oldest") == [[0, 1], [0, 1], [1, 2], [1, 2], [1, 2], [1, 2], []])
    #expect(try shown(reuse: "newest") == [[0, 1], [1, 2], [1, 2], [2, 3], [2, 3], [2, 3], []])
    #expect(try shown(reuse: "none") == [[0, 1], [0, 1], [1], [1], [1], [1], []])
  }

  @Test("with reuse none a tile stays in its cell when its neighbour has vanished")
  func cellsStay() throws {
    let tiles = [Sample.camera(0, from: 0, to: 2), Sample.camera(1, from: 0, to: 6)]
    let layout = try layout(#"{"regions":[{"columns":2,"rows":1,"reuse":"none"}]}"#, tiles)
    var cursor = LayoutCursor(LayoutSchedule(layout, speech: [], speakers: [], rate: .standard))
    let both = cursor.placements(at: 0)
    #expect(both.map(\.text) == ["0 0 638 720", "642 0 638 720"])
    #expect(cursor.placements(at: 70) == [both[1]])
  }

  @Test("all regions together have at most 25 tiles")
  func most() throws {
    let tiles = Sample.cameras(20)
    let text = #"{"regions":[{"width":640},{"x":640}]}"#
    let placements = try layout(text, tiles).placements(at: Sample.moment(of: tiles))
    #expect(placements.map(\.tile) == Array(0..<20) + Array(0..<5))
    #expect(placements.allSatisfy { $0.isEven && $0.isInside(Sample.size) })
  }
}
