import Codecs
import Composer
import Composition
import Media
import Testing
import TextDrawing

@Suite("Painting of output frames")
struct TilePainterTests {
  private let left = TilePlacement(tile: 0, x: 0, y: 0, width: 160, height: 180)
  private let right = TilePlacement(tile: 1, x: 160, y: 0, width: 160, height: 180)
  private let whole = TilePlacement(tile: 0, x: 0, y: 0, width: 320, height: 180)

  @Test("A frame is fitted with bars in the middle of its tile")
  func bars() throws {
    let frames = try PaintedFrames()
    frames.painter.paint([.grey(200, at: left)])
    // 160x90 of 160x180, from row 44 on.
    #expect(frames.pixel(80, 42)[0] == 16)
    #expect(frames.pixel(80, 46)[0] == 200)
    #expect(frames.pixel(80, 132)[0] == 200)
    #expect(frames.pixel(80, 136)[0] == 16)
    #expect(frames.pixel(162, 90)[0] == 16)
  }

  @Test("With cover the frame fills its tile, and its sides are cropped")
  func cover() throws {
    var image = VideoFrame.plain(320, 90, luma: 200)
    for row in 0..<90 {
      for column in 0..<80 { image.luma[row * 320 + column] = 50 }
    }
    for option in [TileFit.cover, .contain] {
      let frames = try PaintedFrames(fit: option)
      var place = whole
      place.fit = option == .cover ? nil : .cover
      let tile = PaintedTile(
        placement: place, look: .frame, frame: TileFrame(image: image, version: 1), name: nil, label: "", id: "a")
      frames.painter.paint([tile])
      // 160x90 of the frame is shown, from its column 80 on.
      #expect(frames.lumas(4..<316, 0..<180).allSatisfy { $0 == 200 })
    }
  }

  @Test("Colours stay as they are")
  func colours() throws {
    let frames = try PaintedFrames()
    let frame = TileFrame(image: .plain(1280, 720, luma: 90, blue: 30, red: 220), version: 1)
    frames.painter.paint([PaintedTile(placement: whole, look: .frame, frame: frame, name: nil, label: "", id: "a")]
    )
    #expect(frames.pixel(100, 100) == [90, 30, 220])
    #expect(frames.pixel(319, 179) == [90, 30, 220])
  }

  @Test("A tile is painted again only if it changed")
  func onlyChanges() throws {
    let frames = try PaintedFrames()
    var tiles = [PaintedTile.grey(100, at: left), .grey(150, at: right)]
    #expect(frames.painter.paint(tiles))
    #expect(frames.painter.paintedTiles == 2)
    #expect(!frames.painter.paint(tiles))
    #expect(frames.painter.paintedTiles == 2)
    tiles[1] = .grey(170, version: 2, at: right)
    #expect(frames.painter.paint(tiles))
    #expect(frames.painter.paintedTiles == 3)
    #expect(frames.pixel(80, 90)[0] == 100)
    #expect(frames.pixel(240, 90)[0] == 170)
    tiles[0].isSpeaking = true
    #expect(frames.painter.paint(tiles))
    #expect(frames.painter.paintedTiles == 4)
  }

  @Test("Where nothing moves, any number of changes leave the same pixels as one painting")
  func noTraces() throws {
    let (used, fresh) = (try PaintedFrames(), try PaintedFrames())
    var last: [PaintedTile] = []
    for step in 1...12 {
      var one = PaintedTile.grey(UInt8(40 + step * 10), version: step, size: (64 + step, 40), at: left)
      one.name = step == 3 ? nil : step > 6 ? "Bob" : "Alice with a long name"
      one.isSpeaking = step.isMultiple(of: 2)
      one.look = step % 4 == 0 ? .dimmed : step % 5 == 0 ? .reconnecting : step % 7 == 0 ? .nameTile : .frame
      last = [one, .grey(90, at: right)]
      used.painter.paint(last, clock: "2026-11-28 15:00:\(step)")
    }
    fresh.painter.paint(last, clock: "2026-11-28 15:00:12")
    #expect(used.canvas.frame == fresh.canvas.frame)
  }

  @Test("A tile that is gone leaves black, at once")
  func gone() throws {
    let frames = try PaintedFrames()
    frames.painter.paint([.grey(100, at: left), .grey(150, at: right)])
    var hidden = PaintedTile.grey(150, at: right)
    hidden.look = .hidden
    #expect(frames.painter.paint([.grey(100, at: left), hidden]))
    #expect(frames.lumas(160..<320, 0..<180).allSatisfy { $0 == 16 })
    #expect(frames.pixel(80, 90)[0] == 100)
  }

  @Test("A tile above another one stays above when the lower one changes")
  func above() throws {
    let frames = try PaintedFrames()
    let small = TilePlacement(tile: 1, x: 200, y: 100, width: 64, height: 36, z: 1)
    frames.painter.paint([.grey(100, at: whole), .grey(220, at: small)])
    frames.painter.paint([.grey(50, version: 2, at: whole), .grey(220, at: small)])
    #expect(frames.pixel(230, 118)[0] == 220)
    #expect(frames.pixel(100, 100)[0] == 50)
    #expect(frames.painter.paintedTiles == 4)
  }

  @Test("A frame that stands still is half as bright, with a sign")
  func dimmed() throws {
    let frames = try PaintedFrames()
    frames.painter.paint([.grey(216, at: whole)])
    #expect(frames.pixel(160, 90)[0] == 216)
    frames.painter.paint([.grey(216, at: whole, look: .dimmed)])
    #expect(frames.pixel(160, 90)[0] == 116)
    // The sign is yellow.
    let sign = frames.pixel(18, 24)
    #expect(sign[0] > 140 && sign[1] < 100)
    frames.painter.paint([.grey(216, at: whole)])
    #expect(frames.lumas(0..<320, 0..<180).allSatisfy { $0 == 216 })
  }

  @Test("\"reconnecting\" stands in the middle of a dimmed frame")
  func reconnecting() throws {
    let frames = try PaintedFrames()
    frames.painter.paint([.grey(216, at: whole, look: .reconnecting)])
    #expect(frames.pixel(20, 20)[0] == 116)
    #expect(frames.lumas(120..<200, 80..<100).contains { $0 > 200 })
    #expect(frames.lumas(120..<200, 80..<100).contains { $0 < 80 })
  }

  @Test("A name tile has initials on a colour that follows from the id")
  func nameTile() throws {
    func pixels(id: String, label: String) throws -> PaintedFrames {
      let frames = try PaintedFrames()
      let tile = PaintedTile(
        placement: whole, look: .nameTile, frame: nil, name: nil, label: label, id: UntrustedText(id))
      frames.painter.paint([tile])
      return frames
    }
    let (one, same, other) = (
      try pixels(id: "a", label: "Alice Bo"), try pixels(id: "a", label: "Alice Bo"),
      try pixels(id: "b", label: "Alice Bo")
    )
    #expect(one.canvas.frame == same.canvas.frame)
    #expect(one.pixel(2, 2) != other.pixel(2, 2))
    #expect(one.lumas(130..<190, 60..<120).contains { $0 > 220 })
    #expect(one.lumas(0..<320, 0..<40).allSatisfy { $0 < 100 })
    let renamed = try pixels(id: "a", label: "Xaver Ypsilon")
    #expect(renamed.canvas.frame != one.canvas.frame)
    #expect(renamed.pixel(2, 2) == one.pixel(2, 2))
  }

  @Test("A tile whose frame is missing or cannot be scaled is a name tile", arguments: [true, false])
  func noFrame(isMissing: Bool) throws {
    let (frames, expected) = (try PaintedFrames(), try PaintedFrames())
    let strange = TileFrame(image: .plain(20_000, 2, luma: 90), version: 1)
    var tile = PaintedTile.grey(1, at: whole)
    tile.frame = isMissing ? nil : strange
    frames.painter.paint([tile])
    tile.look = .nameTile
    expected.painter.paint([tile])
    #expect(frames.canvas.frame == expected.canvas.frame)
  }

  @Test("The name is at the lower left, at least 12 pixels high, and disappears with --names off")
  func name() throws {
    let frames = try PaintedFrames()
    var tile = PaintedTile.grey(200, at: whole)
    tile.name = "Alice"
    frames.painter.paint([tile])
    let corner = frames.lumas(0..<100, 150..<180)
    #expect(corner.contains { $0 > 225 } && corner.contains { $0 < 100 })
    #expect(frames.lumas(120..<320, 0..<180).allSatisfy { $0 == 200 })
    #expect(frames.lumas(0..<320, 0..<150).allSatisfy { $0 == 200 })
    tile.name = nil
    frames.painter.paint([tile])
    #expect(frames.lumas(0..<320, 0..<180).allSatisfy { $0 == 200 })
  }

  @Test("A name that is longer than its tile stays inside of it")
  func longName() throws {
    let frames = try PaintedFrames()
    var tile = PaintedTile.grey(200, at: left)
    tile.name = String(repeating: "Wide name ", count: 20)
    frames.painter.paint([tile, .grey(150, at: right)])
    #expect(frames.lumas(160..<320, 46..<132).allSatisfy { $0 == 150 })
    #expect(frames.lumas(160..<320, 136..<180).allSatisfy { $0 == 16 })
  }

  @Test("Who speaks has a green edge")
  func speaking() throws {
    let frames = try PaintedFrames()
    var tile = PaintedTile.grey(200, at: whole)
    tile.isSpeaking = true
    frames.painter.paint([tile])
    for (x, y) in [(0, 90), (319, 90), (160, 0), (160, 179)] {
      let pixel = frames.pixel(x, y)
      #expect(pixel[1] < 120 && pixel[2] < 100)
    }
    #expect(frames.pixel(160, 20) == [200, 128, 128])
  }

  @Test("The clock is at the upper right, and changes without the tiles below it")
  func clock() throws {
    let frames = try PaintedFrames()
    let tile = PaintedTile.grey(200, at: whole)
    frames.painter.paint([tile], clock: "15:04:05")
    let before = frames.lumas(240..<320, 0..<30)
    #expect(before.contains { $0 > 225 } && before.contains { $0 < 60 })
    #expect(frames.painter.paint([tile], clock: "15:04:06"))
    #expect(frames.lumas(240..<320, 0..<30) != before)
    #expect(frames.painter.paintedTiles == 1)
    #expect(!frames.painter.paint([tile], clock: "15:04:06"))
    // A new frame below leaves it above.
    let clock = frames.lumas(280..<310, 4..<16)
    frames.painter.paint([.grey(60, version: 2, at: whole)], clock: "15:04:06")
    #expect(frames.lumas(280..<310, 4..<16) == clock)
    frames.painter.paint([.grey(60, version: 2, at: whole)])
    #expect(frames.lumas(0..<320, 0..<180).allSatisfy { $0 == 60 })
  }

  @Test("The clock looks the same whatever it showed before")
  func clockWithoutTraces() throws {
    let (used, fresh) = (try PaintedFrames(), try PaintedFrames())
    for clock in ["44:44:44", "11:11:11", "1:1", "00:00:00", "11:11:11"] {
      used.painter.paint([.grey(200, at: left)], clock: clock)
    }
    fresh.painter.paint([.grey(200, at: left)], clock: "11:11:11")
    #expect(used.canvas.frame == fresh.canvas.frame)
  }

  @Test("Without Pango pictures are shown without names, and signs stand for words")
  func noText() throws {
    let frames = try PaintedFrames(hasText: false)
    var tile = PaintedTile.grey(216, at: whole, look: .reconnecting)
    tile.name = "Alice"
    frames.painter.paint([tile], clock: "15:04:05")
    #expect(frames.pixel(160, 90)[0] == 116)
    #expect(frames.pixel(18, 24)[1] < 100)
  }

  @Test("Tiles outside of the canvas, at odd places or of no size are left out")
  func outside() throws {
    let frames = try PaintedFrames()
    let places = [
      (-2, 0, 20, 20), (310, 0, 20, 20), (1, 0, 20, 20), (0, 0, 0, 20), (0, 0, 20, 21), (.max - 1, 0, 2, 2),
      (0, .max - 1, 2, 2), (2, 2, .max - 1, 2),
    ]
    frames.painter.paint(
      places.map { .grey(200, at: TilePlacement(tile: 0, x: $0.0, y: $0.1, width: $0.2, height: $0.3)) })
    #expect(frames.painter.paintedTiles == 0)
  }

  @Test("Any size of frame and tile stays within the canvas")
  func sizes() throws {
    let frames = try PaintedFrames(130, 74)
    var random = SplitMix64(seed: 7)
    for version in 1...150 {
      let sides = [2, 3, 5, 16, 17, 99, 640, 16_383]
      let (width, height) = (
        sides.randomElement(using: &random) ?? 2, sides.prefix(6).randomElement(using: &random) ?? 2
      )
      let place = TilePlacement(
        tile: 0, x: Int.random(in: 0...20, using: &random) * 2, y: Int.random(in: 0...10, using: &random) * 2,
        width: Int.random(in: 1...40, using: &random) * 2, height: Int.random(in: 1...25, using: &random) * 2,
        fit: Bool.random(using: &random) ? .cover : .contain)
      let looks: [PictureLook] = [.frame, .dimmed, .reconnecting, .nameTile]
      var tile = PaintedTile.grey(
        99, version: version, size: (width, height), at: place, look: looks.randomElement(using: &random) ?? .frame)
      tile.name = "Alice"
      tile.isSpeaking = true
      frames.painter.paint([tile], clock: "\(version)")
      #expect(frames.canvas.frame.isWhole)
    }
  }

  @Test("The canvas is copied as I420 in one piece")
  func copying() throws {
    let frames = try PaintedFrames(64, 36)
    let place = TilePlacement(tile: 0, x: 0, y: 0, width: 64, height: 36)
    let image = VideoFrame.plain(64, 36, luma: 90, blue: 30, red: 220)
    let tile = PaintedTile(
      placement: place, look: .frame, frame: TileFrame(image: image, version: 1), name: nil, label: "", id: "a")
    frames.painter.paint([tile])
    var bytes = [UInt8](repeating: 0, count: frames.canvas.byteCount)
    bytes.withUnsafeMutableBytes { frames.canvas.copy(into: $0) }
    #expect(bytes == image.luma + image.blue + image.red)
    var short = [UInt8](repeating: 7, count: 10)
    short.withUnsafeMutableBytes { frames.canvas.copy(into: $0) }
    #expect(short == [UInt8](repeating: 7, count: 10))
    #expect(Canvas(VideoSize(width: 33, height: -4)).size == VideoSize(width: 32, height: 2))
  }
}
