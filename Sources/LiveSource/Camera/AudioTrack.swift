import Codecs
import FileSource
import Media

/// Says which pieces of audio are due. Looks at no clock.
///
/// Audio has no holes: who was kept from looking gets all that has become due meanwhile, but nothing that is older than
/// what a camera catches up.
struct AudioTrack {
  /// A piece of audio and when it begins, in units of `FileTime.rate`, pauses skipped.
  struct Due: Sendable {
    var time: Int64
    var audio: AudioSamples
  }

  private var line: AudioInputTimeline
  private var prepared: AudioSamples?
  private var number: Int64 = 0
  private var isOver = false
  /// Pieces that were too old.
  private(set) var leftOut = 0

  private static let length = Int64(AudioInputTimeline.piece) * FileTime.units(perTickOf: .audio)

  init(_ line: AudioInputTimeline) {
    self.line = line
  }

  /// Reads the next piece, if none is there.
  mutating func prepare() throws(InputError) {
    guard prepared == nil, !isOver else { return }
    prepared = try line.next()
    isOver = prepared == nil
  }

  /// When the next piece is due, or, behind the last, when that one ends.
  var deadline: Int64 { number * Self.length }

  /// The next piece that is due; nil when none is. To be called until it gives none.
  mutating func take(now: Int64) throws(InputError) -> Due? {
    let oldest = now - FileTime.units(CameraTime.maximumCatchUp)
    while deadline <= now {
      try prepare()
      guard let audio = prepared else { return nil }
      prepared = nil
      let due = Due(time: deadline, audio: audio)
      number += 1
      if due.time >= oldest { return due }
      leftOut += 1
    }
    return nil
  }

  /// What could not be decoded until now.
  var undecodable: Undecodable { line.undecodable }

  /// Whether the last piece has been given and has had its time.
  func isFinished(now: Int64) -> Bool {
    isOver && prepared == nil && now >= deadline
  }
}
