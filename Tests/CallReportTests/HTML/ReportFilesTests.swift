import CallCheck
import CallReport
import TestSupport
import Testing

@Suite("Thumbnails as PNG")
struct ReportFilesTests {
  @Test("a PNG has the signature, the size and the end chunk", arguments: [(160, 120), (320, 240), (1, 1), (160, 137)])
  func shape(width: Int, height: Int) throws {
    let png = try #require(
      PNGImage.bytes(width: width, height: height, rgb: [UInt8](repeating: 7, count: 3 * width * height)))
    func number(_ at: Int) -> Int { png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    #expect(number(16) == width)
    #expect(number(20) == height)
    #expect(png.suffix(8) == [0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    #expect(png.count < 2000)
  }

  @Test("noise, which cannot be compressed, fits as well")
  func noise() throws {
    var generator = SeededGenerator(seed: 1)
    let pixels = (0..<3 * 64 * 48).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let png = try #require(PNGImage.bytes(width: 64, height: 48, rgb: pixels))
    #expect(png.count > pixels.count / 2)
  }

  @Test("pixels that do not match the size give no PNG")
  func rejections() {
    #expect(PNGImage.bytes(width: 2, height: 2, rgb: [1, 2, 3]) == nil)
    #expect(PNGImage.bytes(width: 0, height: 0, rgb: []) == nil)
    #expect(PNGImage.bytes(width: 5000, height: 1, rgb: [UInt8](repeating: 0, count: 15_000)) == nil)
  }
}
