import Testing

@testable import CallCheck

@Suite("Files within the HTML report")
struct ReportFilesTests {
  @Test("base 64 is that of RFC 4648, section 10")
  func base64() {
    let known = [
      "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=", "foobar": "Zm9vYmFy",
    ]
    for (text, coded) in known {
      let found = Base64.text(Array(text.utf8))
      #expect(found == coded)
    }
  }

  @Test("a PNG is byte for byte what zlib makes of the same pixels without compression")
  func png() {
    let png = PNGImage.bytes(width: 2, height: 2, rgb: [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7]) ?? []
    let found = Base64.text(png)
    #expect(
      found
        == "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAGUlEQVR4AQEOAPH/AP8AAAD/AAAAAP8JCAcaJgMWiSPffAAAAABJRU5ErkJggg=="
    )
  }

  @Test("a PNG of more than one stored block is complete", arguments: [(160, 120), (320, 240), (1, 1), (160, 137)])
  func blocks(width: Int, height: Int) {
    let count = PNGImage.bytes(width: width, height: height, rgb: [UInt8](repeating: 7, count: 3 * width * height))?
      .count
    let rows = height * (3 * width + 1)
    let blocks = (rows + 65_534) / 65_535
    // Signature, three chunks of 12 bytes and more, a header of 13; zlib's 2 and 4, and 5 for each block.
    #expect(count == 8 + 3 * 12 + 13 + 6 + 5 * blocks + rows)
  }

  @Test("no PNG is made of pixels that do not fit")
  func refusals() {
    #expect(PNGImage.bytes(width: 2, height: 2, rgb: [1, 2, 3]) == nil)
    #expect(PNGImage.bytes(width: 0, height: 0, rgb: []) == nil)
    #expect(PNGImage.bytes(width: 5000, height: 1, rgb: [UInt8](repeating: 0, count: 15_000)) == nil)
  }
}
