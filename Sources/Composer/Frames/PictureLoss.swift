package import Composition

/// A time of which frames of a tile are missing, in units of `MediaTimebase.rate` from the composition's zero.
package struct PictureLoss: Sendable, Hashable, Codable {
  /// The time of the first frame that could not be decoded.
  package var start: Int64
  /// The time of the next frame that was decoded; nil if there is none.
  package var end: Int64?
  package var cause: CompositionReport.Loss.Cause

  /// How many are listed of a tile.
  static let maximumCount = 1_000

  package init(start: Int64, end: Int64?, cause: CompositionReport.Loss.Cause) {
    (self.start, self.end, self.cause) = (start, end, cause)
  }
}

extension [PictureLoss] {
  /// Joins the losses of two parts of the output: what one part has seen the start of, and the next one the end, is one loss.
  func joined(with other: Self) -> Self {
    var joined: Self = []
    for loss in (self + other).sorted(by: { $0.start < $1.start }) {
      guard let last = joined.last, last.cause == loss.cause, last.end.map({ $0 > loss.start }) ?? true else {
        joined.append(loss)
        continue
      }
      // The end is known by the later part.
      let ends = [last.end, loss.end].compactMap(\.self)
      joined[joined.count - 1].end = ends.max()
    }
    return Array(joined.prefix(PictureLoss.maximumCount))
  }
}
