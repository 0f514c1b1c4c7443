import Composition
import JSON
import Media

/// Layout files, and the places of tiles that follow from one.
enum LayoutFileTarget {
  private static let size = VideoSize(width: 1280, height: 720)
  private static let second: Int64 = 720_000

  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    switch Result(catching: { () throws(LocatedJSON.Problem) in try LayoutFile(parsing: input, size: size) }) {
    case .failure(let problem):
      // A line ends with CR, LF or both, and the end of the file is a place as well.
      let lines = input.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
      try require(
        (1...lines).contains(problem.location.line) && (1...input.count + 1).contains(problem.location.column),
        "An error is at \(problem.location), outside of the file.")
      try require(problem.sentence.utf8.count < 1_000, "An error has \(problem.sentence.utf8.count) bytes.")
    case .success(let file):
      try require((1...25).contains(file.regions.count), "A file has \(file.regions.count) regions.")
      let schedule = LayoutSchedule(
        Layout(.regions(file), tiles: tiles, size: size), speech: [], speakers: [], rate: .standard)
      var frame: Int64 = -1
      for change in schedule {
        try require(change.frame > frame, "A change is not later than the one before.")
        frame = change.frame
        try check(change.placements)
      }
    }
  }

  private static func check(_ placements: [TilePlacement]) throws(InvariantViolation) {
    try require(placements.count <= 25, "There are \(placements.count) tiles in a frame.")
    for (index, one) in placements.enumerated() {
      let isInside =
        one.x >= 0 && one.y >= 0 && one.width >= 2 && one.height >= 2 && one.x + one.width <= size.width
        && one.y + one.height <= size.height
      try require(isInside, "A tile is outside of the output: \(one).")
      try require((one.x | one.y | one.width | one.height) & 1 == 0, "A tile has an odd length: \(one).")
      try require(tiles.indices.contains(one.tile), "There is no tile \(one.tile).")
      for other in placements[..<index] {
        try require(other.z <= one.z, "The tiles are not in order of z.")
        let areApart =
          one.x >= other.x + other.width || other.x >= one.x + one.width || one.y >= other.y + other.height
          || other.y >= one.y + one.height
        try require(areApart || other.z < one.z, "Two tiles of one z overlap.")
      }
    }
  }

  /// Users with a camera, some with a screen, who come and go one after the other.
  private static let tiles: [LayoutTile] = (0..<12).map { number in
    let user = number / 2 * 2
    let names = number < 4 ? ["Ann", "id-\(user)"] : ["user-\(user)", "é\u{301}-\(user)"]
    return LayoutTile(
      user: user, stream: number % 2 + 1, isScreen: number % 2 == 1 && number != 5,
      names: names.map { UntrustedText($0) }, presence: [Int64(number) * second..<Int64(number + 6) * second])
  }
}
