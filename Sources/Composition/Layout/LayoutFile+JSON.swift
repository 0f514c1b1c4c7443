package import JSON
package import Media

extension LayoutFile {
  /// The maximum size of a file in bytes.
  package static let maximumBytes = 65_536

  /// Reads a file: an object with `regions`, a list of objects whose keys are those of `LayoutRegion`.
  ///
  /// - Parameter size: the size of the output, which contains all regions.
  /// - Throws: what is wrong, and where. Unknown keys and regions that hide each other are wrong as well.
  package init(parsing bytes: some Collection<UInt8>, size: VideoSize) throws(LocatedJSON.Problem) {
    let limits = JSONLimits(bytes: Self.maximumBytes, values: 10_000, depth: 4)
    let file = LayoutFields(try LocatedJSON(parsing: bytes, within: limits))
    try file.allow(["regions"])
    guard let list = try file["regions"] else { throw file.problem("The file has no \"regions\".") }
    let elements = try list.elements(1...Layout.maximumTiles, of: "regions")
    var regions: [(region: LayoutRegion, location: TextLocation)] = []
    for element in elements {
      let region = try LayoutRegion(element, size: size)
      if let other = regions.first(where: { $0.region.z == region.z && $0.region.overlaps(region) }) {
        throw .init(
          location: element.location,
          sentence: "The region overlaps that of \(other.location). Give one of them a greater \"z\", or move it.")
      }
      regions.append((region, element.location))
    }
    self.init(regions: regions.map(\.region))
  }
}

extension LayoutRegion {
  /// The smallest side of a region and of its cells, in pixels.
  private static let smallestSide = 16
  private static let maximumPatterns = 200
  private static let maximumPatternBytes = 256

  private static let keys = [
    "x", "y", "width", "height", "z", "users", "exclude", "content", "columns", "rows", "reuse", "fit",
  ]

  fileprivate init(_ json: LocatedJSON, size: VideoSize) throws(LocatedJSON.Problem) {
    let fields = LayoutFields(json)
    try fields.allow(Self.keys)
    let (x, width) = try Self.side(fields, "x", "width", of: size.width)
    let (y, height) = try Self.side(fields, "y", "height", of: size.height)
    self.init(x: x, y: y, width: width, height: height)
    if let value = try fields["z"] { z = try value.integer(-99...99, "z") }
    if let value = try fields["columns"] { columns = try Self.count(value, "columns", in: width) }
    if let value = try fields["rows"] { rows = try Self.count(value, "rows", in: height) }
    if let value = try fields["users"] { users = try Self.patterns(value, 1...Self.maximumPatterns, "users") }
    if let value = try fields["exclude"] {
      exclude = try Self.patterns(value, 0...Self.maximumPatterns, "exclude")
      if exclude.contains(where: { $0 == .all || users.contains($0) }) {
        throw value.problem("The region excludes whom it shows.")
      }
    }
    if let value = try fields["content"] { content = try value.choice(Content.self, "content") }
    if let value = try fields["reuse"] { reuse = try value.choice(Reuse.self, "reuse") }
    if let value = try fields["fit"] { fit = try value.choice(TileFit.self, "fit") }
  }

  /// Reads where the region begins in one direction and how long it is, and rounds both ends down to even pixels.
  private static func side(
    _ fields: LayoutFields, _ start: String, _ length: String, of whole: Int
  ) throws(LocatedJSON.Problem) -> (Int, Int) {
    let first = try fields[start]
    let begin = try first?.integer(0...max(0, whole - 1), start) ?? 0
    let given = try fields[length]
    let end: Int
    if let given {
      end = begin + (try given.integer(1...65_535, length))
      guard end <= whole else {
        throw given.problem("The region ends at pixel \(end), but the \(length) of the output is \(whole).")
      }
    } else {
      end = whole
    }
    let rounded = (even(begin), even(end) - even(begin))
    guard rounded.1 >= smallestSide else {
      throw (given ?? first)?.problem("The \(length) of the region is less than \(smallestSide) pixels.")
        ?? fields.problem("The \(length) of the output is less than \(smallestSide) pixels.")
    }
    return rounded
  }

  private static func count(_ value: LocatedJSON, _ key: String, in length: Int) throws(LocatedJSON.Problem) -> Int {
    let count = try value.integer(1...Layout.maximumTiles, key)
    guard (length - CellGrid.gap * (count - 1)) / count >= smallestSide else {
      throw value.problem("The cells would have less than \(smallestSide) pixels: the region has \(length).")
    }
    return count
  }

  private static func patterns(
    _ value: LocatedJSON, _ count: ClosedRange<Int>, _ key: String
  ) throws(LocatedJSON.Problem) -> [UserPattern] {
    var patterns: [UserPattern] = []
    var known: Set<UserPattern> = []
    for element in try value.elements(count, of: key) {
      guard case .string(let text) = element.value, !text.isEmpty, text.utf8.count <= maximumPatternBytes else {
        throw element.problem("A user is a name or an id in quotes, with at most \(maximumPatternBytes) bytes.")
      }
      let pattern = UserPattern(text)
      guard known.insert(pattern).inserted else { throw element.problem("\"\(text)\" is there twice.") }
      patterns.append(pattern)
    }
    return patterns
  }

  fileprivate func overlaps(_ other: LayoutRegion) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}
