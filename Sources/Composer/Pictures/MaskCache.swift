internal import TextDrawing

/// Texts and shapes that were drawn once and are used in many output frames.
struct MaskCache {
  private enum Key: Hashable {
    case text(String, size: Int, isBold: Bool, maximumWidth: Int)
    case disc(Int)
    case warning(Int)
  }

  /// Enough for 25 tiles with all that they show, and some seconds of a clock.
  private static let capacity = 200

  private let drawer: TextDrawer?
  private var masks: [Key: CoverageMask] = [:]
  private var widths: (text: String, size: Int, width: Int)?

  init(_ drawer: TextDrawer?) {
    self.drawer = drawer
  }

  /// An empty mask if no text can be drawn.
  mutating func text(_ text: String, size: Int, maximumWidth: Int) -> CoverageMask {
    mask(.text(text, size: size, isBold: false, maximumWidth: maximumWidth)) { drawer in
      CoverageMask(drawer?.draw(text, size: Double(size), maximumWidth: maximumWidth) ?? .empty)
    }
  }

  /// The greatest width of a text over all digits in place of its own.
  mutating func widestDigits(of text: String, size: Int, maximumWidth: Int) -> Int {
    func replaced(by digit: Character) -> String { String(text.map { $0.isASCII && $0.isNumber ? digit : $0 }) }
    let zeros = replaced(by: "0")
    if let widths, widths.text == zeros, widths.size == size { return widths.width }
    let width =
      "0123456789".map { digit in
        drawer?.draw(replaced(by: digit), size: Double(size), maximumWidth: maximumWidth).width ?? 0
      }.max() ?? 0
    widths = (zeros, size, width)
    return width
  }

  /// A text as large as its ink; in a smaller font if it would be wider than wanted.
  mutating func initials(_ text: String, size: Int, maximumWidth: Int) -> CoverageMask {
    mask(.text(text, size: size, isBold: true, maximumWidth: maximumWidth)) { drawer in
      guard let drawer else { return .empty }
      let mask = CoverageMask(inkOf: drawer.draw(text, size: Double(size), isBold: true))
      guard mask.width > maximumWidth else { return mask }
      let smaller = Double(size) * Double(maximumWidth) / Double(mask.width)
      return CoverageMask(inkOf: drawer.draw(text, size: smaller, isBold: true, maximumWidth: maximumWidth))
    }
  }

  mutating func disc(diameter: Int) -> CoverageMask {
    mask(.disc(diameter)) { _ in .disc(diameter: diameter) }
  }

  mutating func warning(side: Int) -> CoverageMask {
    mask(.warning(side)) { _ in .warning(side: side) }
  }

  private mutating func mask(_ key: Key, _ draw: (TextDrawer?) -> CoverageMask) -> CoverageMask {
    if let mask = masks[key] { return mask }
    if masks.count >= Self.capacity { masks.removeAll(keepingCapacity: true) }
    let mask = draw(drawer)
    masks[key] = mask
    return mask
  }
}
