package import Media

/// A layout of regions, which a user describes in a JSON file.
package struct LayoutFile: Sendable, Hashable {
  package var regions: [LayoutRegion]

  package init(regions: [LayoutRegion]) {
    self.regions = regions
  }
}

/// A part of the output in which tiles are shown, in cells of equal size. All lengths are pixels of the output, and even.
package struct LayoutRegion: Sendable, Hashable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int
  /// A region with a greater value covers one with a smaller value.
  package var z = 0
  /// Who is shown: names or ids.
  package var users = [UserPattern.all]
  package var exclude: [UserPattern] = []
  package var content = Content.all
  /// The most columns and rows; nil for as many as make the pictures largest.
  package var columns: Int?
  package var rows: Int?
  package var reuse = Reuse.oldest
  /// Nil where the option `--fit` decides.
  package var fit: TileFit?

  package init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// Which streams of its users a region shows.
  package enum Content: String, Sendable, Hashable, CaseIterable {
    case all
    case camera
    case screen
  }

  /// Who has the cells when there are more tiles than cells.
  package enum Reuse: String, Sendable, Hashable, CaseIterable {
    /// Each tile keeps its cell, also when it has vanished. Later tiles than the last cell's are not shown.
    case none
    /// Those who have been there for the longest time.
    case oldest
    /// Those who came last.
    case newest
  }
}

/// A name or an id, in which `*` stands for any text.
package struct UserPattern: Sendable, Hashable {
  package let text: UntrustedText

  package static let all = UserPattern("*")

  package init(_ text: UntrustedText) {
    self.text = text
  }

  /// Whether one of the names matches.
  package func matches(anyOf names: [UntrustedText]) -> Bool {
    names.contains { Self.matches(Array(text.utf8), Array($0.utf8)) }
  }

  private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
    var (at, position) = (0, 0)
    // After the last `*`: what follows it in the pattern, and where in the name that is tried.
    var retry: (at: Int, position: Int)?
    while position < name.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        at += 1
        retry = (at, position)
      } else if at < pattern.count, pattern[at] == name[position] {
        at += 1
        position += 1
      } else if let last = retry {
        at = last.at
        position = last.position + 1
        retry = (at, position)
      } else {
        return false
      }
    }
    return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
