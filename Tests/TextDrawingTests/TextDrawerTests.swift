import Media
import Testing
import TextDrawing

@Suite("Text as bitmaps")
struct TextDrawerTests {
  private let drawer: TextDrawer

  init() throws { drawer = try TextDrawer() }

  private func width(_ text: String) -> Int { drawer.draw(text, size: 40).width }

  @Test("A line is as high as its font asks for, and white where letters are")
  func line() throws {
    let bitmap = drawer.draw("Alice", size: 20)
    #expect(bitmap.coverage.count == bitmap.width * bitmap.height)
    #expect((20...40).contains(bitmap.height))
    #expect((30...90).contains(bitmap.width))
    #expect(bitmap.coverage.contains(255))
    let ink = try #require(bitmap.ink)
    #expect(ink.columns.count < bitmap.width + 1 && ink.rows.count < 24)
  }

  @Test("The same text gives the same pixels with another drawer")
  func same() throws {
    let other = try TextDrawer()
    #expect(drawer.draw("Ærøskøbing", size: 17) == other.draw("Ærøskøbing", size: 17))
  }

  @Test("A combining mark takes no place of its own, and is drawn")
  func marks() {
    let (plain, marked) = (drawer.draw("e", size: 40), drawer.draw("e\u{0301}", size: 40))
    #expect(abs(plain.width - marked.width) <= 2)
    #expect(sum(marked) > sum(plain))
  }

  @Test("Arabic letters are joined")
  func joined() {
    // Isolated letters are wider than joined ones.
    let isolated = width("ع") * 4
    let joined = width("عععع")
    #expect(joined < isolated * 9 / 10)
    #expect(joined > 0)
  }

  @Test("Text of right to left is drawn whole, at the left of its bitmap")
  func rightToLeft() throws {
    let bitmap = drawer.draw("שלום", size: 20, maximumWidth: 1_000)
    #expect(bitmap.width < 120)
    #expect(bitmap.ink != nil)
  }

  @Test("Scripts without a font and emoji are drawn as something", arguments: ["你好", "नमस्ते", "😀", "👩‍🚀", "\u{10FFFD}"])
  func others(_ text: String) throws {
    let bitmap = drawer.draw(text, size: 24)
    #expect(bitmap.ink != nil)
    #expect(bitmap.height <= 72)
  }

  @Test("Control and direction characters can be seen", arguments: ["\u{202E}", "\u{0007}", "\0", "\u{200B}", "\n"])
  func controls(_ control: String) {
    #expect(width("a\(control)b") > width("ab") + 60)
  }

  @Test("Markup is text")
  func markup() { #expect(width("<b>x</b>") > 2 * width("xxx")) }

  @Test("A line that is too long is cut at the width")
  func cut() {
    let text = String(repeating: "W", count: 100)
    let bitmap = drawer.draw(text, size: 20, maximumWidth: 100)
    #expect(bitmap.width <= 100 && bitmap.width > 60)
    #expect(bitmap != drawer.draw("WWWW", size: 20, maximumWidth: 100))
  }

  @Test("A letter with hundreds of marks stays in its line")
  func stacked() {
    let bitmap = drawer.draw("Z" + String(repeating: "\u{0335}\u{030D}\u{0323}", count: 300), size: 20)
    #expect(bitmap.height <= 60)
  }

  @Test("Any text of any size is drawn within bounds")
  func hostile() {
    let texts = [
      "", " ", String(repeating: "x", count: 100_000), String(repeating: "🏳️‍🌈", count: 2_000), "\u{FFFD}\u{E000}",
    ]
    for text in texts {
      for size in [-1, 0, 3.5, 12, 5_000, .infinity, .nan] {
        let bitmap = drawer.draw(text, size: size, maximumWidth: 300)
        #expect(bitmap.width <= 300 && bitmap.height <= 3_000)
        #expect(bitmap.coverage.count == bitmap.width * bitmap.height)
      }
    }
    #expect(drawer.draw("x", size: 12, maximumWidth: -5).width <= 1)
  }

  @Test("A bitmap whose coverage has another size is empty")
  func bitmaps() {
    #expect(TextBitmap(width: 2, height: 2, coverage: [1, 2, 3]) == .empty)
    #expect(TextBitmap(width: .max, height: 3, coverage: []) == .empty)
    #expect(TextBitmap(width: 3, height: 2, coverage: [0, 0, 0, 0, 9, 9]).ink?.columns == 1..<3)
    #expect(TextBitmap(width: 1, height: 1, coverage: [0]).ink == nil)
  }

  private func sum(_ bitmap: TextBitmap) -> Int { bitmap.coverage.reduce(0) { $0 + Int($1) } }
}
