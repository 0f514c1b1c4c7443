import Composition
import Media
import Testing

@Suite("the layouts speaker, presenter and only")
struct SpeakerLayoutTests {
  @Test("the speaker is large, the others are in a column at the right")
  func speaker() {
    let placements = Sample.placements(.speaker, Sample.cameras(3), speaker: 1)
    #expect(placements.map(\.tile) == [1, 0, 2])
    #expect(placements.map(\.text) == ["0 0 1028 720", "1032 0 248 140", "1032 144 248 140"])
  }

  @Test("somebody alone has the whole output")
  func alone() {
    #expect(Sample.placements(.speaker, Sample.cameras(1)).map(\.text) == ["0 0 1280 720"])
    #expect(Sample.placements(.speaker, []) == [])
  }

  @Test("of more than five others those who spoke last are shown, by first appearance")
  func others() {
    let spoke: [Int: Int64] = [7: 10, 3: 30, 9: 20, 4: .max]
    #expect(
      Sample.placements(.speaker, Sample.cameras(10), speaker: 4, lastSpeech: spoke).map(\.tile) == [4, 0, 1, 3, 7, 9])
  }

  @Test("before anybody spoke, who came first is large; when the speaker has left, who spoke last of the others")
  func fallback() {
    let tiles = Sample.cameras(3)
    #expect(Sample.placements(.speaker, tiles).map(\.tile) == [0, 1, 2])
    var moment = Sample.moment(of: tiles, speaker: 0, lastSpeech: [0: .max, 1: 5, 2: 9])
    moment.present = [1, 2]
    let layout = Layout(.speaker, tiles: tiles, size: Sample.size)
    #expect(layout.placements(at: moment).map(\.tile) == [2, 1])
  }

  @Test("a shared screen is large, its owner and the speaker stay beside it, also when others have spoken")
  func screen() {
    let tiles = Sample.cameras(9) + [Sample.screen(of: 8)]
    let spoke = Dictionary(uniqueKeysWithValues: (0..<7).map { ($0, Int64($0 + 1)) })
    let placements = Sample.placements(.speaker, tiles, speaker: 0, lastSpeech: spoke)
    #expect(placements.map(\.tile) == [9, 0, 4, 5, 6, 8])
  }

  @Test("of two shared screens the later one is large, the other one is beside it")
  func twoScreens() {
    let tiles = [Sample.camera(0), Sample.screen(of: 0), Sample.camera(1), Sample.screen(of: 1)]
    #expect(Sample.placements(.speaker, tiles, speaker: 0).map(\.tile) == [3, 0, 1, 2])
  }

  @Test("the presenter is large while they are there, by name or id, and a screen takes their place")
  func presenter() {
    let tiles = [Sample.camera(0), Sample.camera(1, "Ann"), Sample.camera(2)]
    for name: UntrustedText in ["Ann", "id-1"] {
      #expect(Sample.placements(.presenter(name), tiles, speaker: 2).map(\.tile) == [1, 0, 2])
    }
    let layout = Layout(.presenter("Ann"), tiles: tiles, size: Sample.size)
    var moment = Sample.moment(of: tiles, speaker: 2)
    moment.present = [0, 2]
    #expect(layout.placements(at: moment).map(\.tile) == [2, 0])
    let shared = tiles + [Sample.screen(of: 0)]
    #expect(Sample.placements(.presenter("Ann"), shared, speaker: 2).map(\.tile) == [3, 0, 1, 2])
  }

  @Test("only one user is shown, with their screen")
  func only() {
    let tiles = [Sample.camera(0), Sample.camera(1, "Ann"), Sample.screen(of: 1)]
    #expect(Sample.placements(.only("id-1"), tiles, speaker: 0).map(\.tile) == [2, 1])
    #expect(Sample.placements(.only("user-0"), tiles, speaker: 1).map(\.text) == ["0 0 1280 720"])
    #expect(Sample.placements(.only("Bob"), tiles) == [])
  }

  @Test("in a narrow output the column is a quarter of it")
  func portrait() {
    let placements = Sample.placements(.speaker, Sample.cameras(2), size: VideoSize(width: 720, height: 1280))
    #expect(placements.map(\.text) == ["0 0 536 1280", "540 0 180 100"])
  }

  @Test("a layout that wants somebody says when nobody has this name")
  func problem() {
    let tiles = [Sample.camera(0, "Ann")]
    #expect(LayoutChoice.presenter("Ann").problem(for: tiles) == nil)
    #expect(LayoutChoice.only("id-0").problem(for: tiles) == nil)
    #expect(LayoutChoice.grid.problem(for: []) == nil)
    #expect(
      LayoutChoice.only("Bob").problem(for: tiles)
        == "The layout wants \"Bob\", but no user of the call has this name or id.")
  }

  @Test("a layout is a word, a word with a name, or a path")
  func argument() throws {
    #expect(try LayoutArgument("grid") == .choice(.grid))
    #expect(try LayoutArgument("presenter:Ann: x") == .choice(.presenter("Ann: x")))
    #expect(try LayoutArgument("only:Ann.json") == .choice(.only("Ann.json")))
    #expect(try LayoutArgument("layout.json") == .file("layout.json"))
    #expect(try LayoutArgument("./grid") == .file("./grid"))
    #expect(throws: LayoutArgument.ParseError.noName("only:")) { try LayoutArgument("only") }
    #expect(throws: LayoutArgument.ParseError.noName("presenter:")) { try LayoutArgument("presenter:") }
    #expect(throws: LayoutArgument.ParseError.unknown("gird")) { try LayoutArgument("gird") }
  }
}
