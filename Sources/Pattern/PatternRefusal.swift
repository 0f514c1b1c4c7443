/// Why a picture could not be read as the pattern.
package enum PatternRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// It has fewer pixels than the code needs.
  case tooSmall
  /// The reference cells are not there: it is another picture, or cut off.
  case noPattern
  /// The pattern is there, but so many cells of the code are neither black nor white.
  case unclear(cells: Int)
  /// Every cell is clear, but the checksum is not that of the rest: parts of two pictures, or damage.
  case wrongChecksum

  package var description: String {
    switch self {
    case .tooSmall: "The picture is too small to be read."
    case .noPattern: "The picture does not show the pattern."
    case .unclear(let cells): "\(cells) of the pattern's 128 cells are neither black nor white."
    case .wrongChecksum: "The pattern's checksum is wrong."
    }
  }
}
