internal import CPango
internal import Media

/// Draws text of any script with the fonts of the system, one line at a time.
///
/// Pango shapes the text; Arabic, combining marks and emoji are drawn as their fonts say, emoji in grey. Texts are text only: no
/// markup is read. Which fonts there are is the system's matter: a character without a font is drawn as a box with its number.
///
/// A drawer belongs to one thread at a time.
package final class TextDrawer {
  /// The font sizes that are drawn, in pixels.
  package static let sizes = 4.0...1_000
  /// The sides of a bitmap, in pixels.
  package static let sides = 1...8_192
  /// How much of a text is drawn, in bytes of UTF-8.
  package static let maximumBytes = 1_000

  /// Joiners shape Arabic, Indic scripts and emoji.
  private static let joiners: Set<Unicode.Scalar> = ["\u{200C}", "\u{200D}"]

  private let drawer: OpaquePointer

  /// - Throws: `TextDrawingError` if Pango is not installed.
  package init() throws(TextDrawingError) {
    guard Self.isLoaded, let drawer = cpango_create() else { throw .missingLibrary }
    self.drawer = drawer
  }

  deinit { cpango_destroy(drawer) }

  private static let isLoaded = cpango_load() == 0

  /// Draws one line.
  ///
  /// - Parameters:
  ///   - text: may be from a stranger: control and direction characters are drawn as `\u{…}`.
  ///   - size: of the font, in pixels.
  ///   - maximumWidth: in pixels. A longer line is cut, and ends with "…".
  /// - Returns: a bitmap as wide as the text and as high as its line; an empty one for an empty text or if it cannot be drawn.
  package func draw(_ text: String, size: Double, isBold: Bool = false, maximumWidth: Int = 8_192) -> TextBitmap {
    var shown = text.printable(utf8Bytes: Self.maximumBytes, keeping: Self.joiners)
    guard !shown.isEmpty, size.isFinite else { return .empty }
    let size = min(max(Self.sizes.lowerBound, size), Self.sizes.upperBound)
    let style = cpango_style(
      size: size, weight: isBold ? 700 : 400,
      maximum_width: Int32(min(max(Self.sides.lowerBound, maximumWidth), Self.sides.upperBound)),
      maximum_height: Int32(3 * size))
    var bitmap = cpango_bitmap()
    let code = shown.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        guard let start = characters.baseAddress else { return Int32(-1) }
        return cpango_draw(drawer, start, Int32(characters.count), style, &bitmap)
      }
    }
    guard code == 0, let coverage = bitmap.coverage else { return .empty }
    defer { cpango_release(&bitmap) }
    let (width, height) = (Int(bitmap.width), Int(bitmap.height))
    return TextBitmap(
      width: width, height: height,
      coverage: Array(UnsafeBufferPointer(start: coverage, count: width * height)))
  }
}

/// Why no text can be drawn.
package enum TextDrawingError: Error, Hashable, CustomStringConvertible {
  case missingLibrary

  package var description: String {
    "text cannot be drawn, because Pango is missing (libpangocairo-1.0.so.0; Debian's package libpangocairo-1.0-0)"
  }
}
