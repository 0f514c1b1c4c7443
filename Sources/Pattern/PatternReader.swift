package import Codecs
import Media

/// Reads the code of a painted pattern from a frame of any size, brightness and contrast.
///
/// The reader returns only codes that the checksum confirms. It detects and skips uniform bars around the frame, as
/// added when a frame is fitted into another aspect ratio.
package struct PatternReader: Sendable {
  /// The smallest frame in which a cell is still two pixels wide and high.
  private static let minimumWidth = 2 * PatternLayout.columns
  private static let minimumHeight = PatternLayout.rows
  /// The minimum luma difference between white and black.
  private static let minimumContrast = 32
  /// The minimum distance of a cell from the middle between black and white, in percent of their difference.
  private static let minimumClearness = 15

  package init() {}

  package func read(_ videoFrame: VideoFrame) -> Result<PatternReading, PatternReadingError> {
    guard videoFrame.isWhole else { return .failure(.tooSmall) }
    return videoFrame.luma.withUnsafeBufferPointer { luma in
      guard let start = luma.baseAddress else { return .failure(.tooSmall) }
      return read(
        PatternPlane(
          start: start, width: videoFrame.size.width, height: videoFrame.size.height, stride: videoFrame.size.width))
    }
  }

  package func read(_ view: VideoFrameView) -> Result<PatternReading, PatternReadingError> {
    read(
      PatternPlane(start: view.luma.bytes, width: view.luma.width, height: view.luma.height, stride: view.luma.stride))
  }

  private func read(_ plane: PatternPlane) -> Result<PatternReading, PatternReadingError> {
    guard plane.width >= Self.minimumWidth, plane.height >= Self.minimumHeight else { return .failure(.tooSmall) }
    let whole = read(plane, PatternLayout(size: .init(width: plane.width, height: plane.height)))
    guard case .failure(.noPattern) = whole, let inner = plane.withoutBars,
      inner.size.width >= Self.minimumWidth, inner.size.height >= Self.minimumHeight
    else { return whole }
    return read(plane, inner)
  }

  private func read(_ plane: PatternPlane, _ layout: PatternLayout) -> Result<PatternReading, PatternReadingError> {
    guard let scale = greyScale(plane, layout) else { return .failure(.noPattern) }
    var unclear = 0
    var bytes = [UInt8](repeating: 0, count: 16)
    for index in 0..<PatternLayout.cellsInLine * PatternLayout.codeLines {
      let distance = plane.average(layout.codeCell(index).core) - scale.middle
      if abs(distance) * 100 < scale.contrast * Self.minimumClearness { unclear += 1 }
      if distance > 0 { bytes[index / 8] |= 0x80 >> UInt8(index % 8) }
    }
    if let reading = PatternReading(bytes: bytes), unclear == 0 { return .success(reading) }
    return .failure(unclear > 0 ? .unclear(cells: unclear) : .wrongChecksum)
  }

  /// Returns the levels of black and white in the reference cells; nil if the cells are not found.
  private func greyScale(_ plane: PatternPlane, _ layout: PatternLayout) -> (middle: Int, contrast: Int)? {
    var white = 0
    var black = 0
    var darkestWhite = Int.max
    var lightestBlack = Int.min
    for index in 0..<PatternLayout.cellsInLine {
      let luma = plane.average(layout.referenceCell(index).core)
      if PatternLayout.reference >> (15 - index) & 1 == 1 {
        white += luma
        darkestWhite = min(darkestWhite, luma)
      } else {
        black += luma
        lightestBlack = max(lightestBlack, luma)
      }
    }
    // `average` counts in sixteenths, and there are eight cells of each colour.
    let contrast = (white - black) / 8
    let middle = (white + black) / 16
    guard contrast >= Self.minimumContrast * PatternPlane.fractions else { return nil }
    let margin = contrast / 4
    return darkestWhite > middle + margin && lightestBlack < middle - margin ? (middle, contrast) : nil
  }
}

/// The reason why a frame could not be read as the pattern.
package enum PatternReadingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The frame has fewer pixels than the code needs.
  case tooSmall
  /// The reference cells are missing: the frame shows something else, or it is cropped.
  case noPattern
  /// The pattern is present, but this many cells of the code are neither black nor white.
  case unclear(cells: Int)
  /// Every cell is clear, but the checksum does not match: parts of two frames, or damage.
  case wrongChecksum

  package var description: String {
    switch self {
    case .tooSmall: "The frame is too small to be read."
    case .noPattern: "The frame does not show the pattern."
    case .unclear(let cells): "\(cells) of the pattern's 128 cells are neither black nor white."
    case .wrongChecksum: "The pattern's checksum is wrong."
    }
  }
}
