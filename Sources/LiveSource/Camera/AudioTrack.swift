import Codecs
import FileSource
import Media

/// Schedules chunks of audio. It reads no clock.
///
/// Audio has no gaps: after a late wakeup, `take` returns everything that has become due, except what is older than
/// `CameraTime.maximumCatchUp`.
struct AudioTrack {
  /// A chunk of audio and its start, in units of `MediaTimebase.rate` without pauses.
  struct Due: Sendable {
    var time: Int64
    var audio: AudioSamples
  }

  private var timeline: AudioInputTimeline
  private var prepared: AudioSamples?
  private var number: Int64 = 0
  private var isOver = false
  /// The number of chunks dropped because they were too old.
  private(set) var dropped = 0

  private static let length = Int64(AudioInputTimeline.chunkTicks) * MediaTimebase.units(perTickOf: .audio)

  init(_ timeline: AudioInputTimeline) {
    self.timeline = timeline
  }

  /// Reads the next chunk, unless one is ready.
  mutating func prepare() throws(InputError) {
    guard prepared == nil, !isOver else { return }
    prepared = try timeline.next()
    isOver = prepared == nil
  }

  /// When the next chunk is due, or, after the last one, when that one ends.
  var deadline: Int64 { number * Self.length }

  /// Returns the next chunk that is due; nil if none is. Call it until it returns nil.
  mutating func take(now: Int64) throws(InputError) -> Due? {
    let oldest = now - MediaTimebase.units(CameraTime.maximumCatchUp)
    while deadline <= now {
      try prepare()
      guard let audio = prepared else { return nil }
      prepared = nil
      let due = Due(time: deadline, audio: audio)
      number += 1
      if due.time >= oldest { return due }
      dropped += 1
    }
    return nil
  }

  /// The packets that could not be decoded so far.
  var undecodable: Undecodable { timeline.undecodable }

  /// Whether the last chunk has been returned and has ended.
  func isFinished(now: Int64) -> Bool {
    isOver && prepared == nil && now >= deadline
  }
}
