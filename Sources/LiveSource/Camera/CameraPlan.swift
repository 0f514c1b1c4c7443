import FileSource
import Media

/// What a camera is to play: inputs that were found good, and how they lie in time.
struct CameraPlan: Sendable {
  /// The input's name in messages.
  var name: String
  /// The file of each track, for messages.
  var files: [MediaKind: String] = [:]
  var pictures: CheckedPictures?
  var sound: CheckedSound?
  var rounds: Rounds
  var fit: PictureFit?
  /// The even rate; nil for the pictures' own times.
  var rate: PictureRate?
  var maximumBitrate: Int
  /// How often the pictures' size changes; nil for never.
  var sizeChange: Duration?
  var owner: ParticipantID

  var tracks: Int { (pictures == nil ? 0 : 1) + (sound == nil ? 0 : 1) }

  /// Whether all is over when the pictures are.
  var endsWithPictures: Bool { pictures?.extent == .unknown }

  /// How long a round is: as long as the longest input that has a length.
  static func period(_ pictures: Extent?, _ sound: Extent?) -> Int64? {
    var ranges: [Range<Int64>] = []
    for case .range(let range)? in [pictures, sound] { ranges.append(range) }
    return ranges.isEmpty ? nil : max(FileTime.commonSpan, StoredFile.period(of: ranges))
  }
}

/// How inputs follow each other in time: all in units of `FileTime.rate`.
struct Rounds: Sendable, Hashable {
  /// After how long the inputs begin anew; nil when none of them has a length.
  var period: Int64?
  /// Whether they do.
  var loops: Bool

  init(period: Int64?, loops: Bool) {
    self.period = period
    self.loops = loops
  }

  /// When what has no length of its own is to end; nil for never.
  var end: Int64? { loops ? nil : period }
}
