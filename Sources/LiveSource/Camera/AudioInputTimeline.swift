import Codecs
import FileSource
import Media

/// The continuous audio of an input, round after round, in chunks of 20 ms.
///
/// Rounds join without a gap, exact to the sample. If an input is shorter than the round, silence follows.
struct AudioInputTimeline {
  /// The length of a chunk in ticks of 48 kHz.
  static let chunkTicks = 960

  private let input: any AudioInput
  private let channels: Int
  /// The following are in ticks of 48 kHz.
  private let period: Int64?
  private let end: Int64?
  private var position: Int64 = 0
  private var silence: Int64
  private var roundLeft: Int64
  private var roundHasAudio = false
  private var isOver = false

  init(_ input: any AudioInput, channels: Int, extent: Extent, rounds: LoopSchedule) {
    let unit = MediaTimebase.units(perTickOf: .audio)
    self.input = input
    self.channels = channels
    let silence: Int64
    switch extent {
    case .range(let range):
      silence = max(0, range.lowerBound / unit)
      period = rounds.loops ? rounds.period.map { max(1, $0 / unit) } : nil
    case .endless, .unknown:
      silence = 0
      period = nil
    }
    self.silence = silence
    end = rounds.end.map { $0 / unit + silence }
    roundLeft = period ?? 0
  }

  /// The packets that could not be decoded so far.
  var undecodable: Undecodable { input.undecodable }

  /// Returns the next chunk; nil at the end. The last one is padded with silence.
  mutating func next() throws(InputError) -> AudioSamples? {
    if let end, position >= end { return nil }
    var samples: [Float] = []
    samples.reserveCapacity(Self.chunkTicks * channels)
    while samples.count < Self.chunkTicks * channels {
      try fill(&samples, Self.chunkTicks - samples.count / channels)
    }
    position += Int64(Self.chunkTicks)
    return AudioSamples(samples: samples, channels: channels)
  }

  private mutating func fill(_ samples: inout [Float], _ wanted: Int) throws(InputError) {
    if silence > 0 || isOver {
      let ticks = isOver ? wanted : Int(min(silence, Int64(wanted)))
      samples.append(contentsOf: repeatElement(0, count: ticks * channels))
      silence -= Int64(ticks)
      return
    }
    guard period != nil else {
      let audio = try input.read(wanted)
      samples.append(contentsOf: audio.samples)
      if audio.count < wanted { isOver = true }
      return
    }
    if roundLeft == 0 { return try beginRound() }
    let ticks = Int(min(roundLeft, Int64(wanted)))
    let audio = try input.read(ticks)
    samples.append(contentsOf: audio.samples)
    roundLeft -= Int64(audio.count)
    if audio.count > 0 { roundHasAudio = true }
    if audio.count < ticks {
      silence = roundLeft
      roundLeft = 0
    }
  }

  private mutating func beginRound() throws(InputError) {
    guard roundHasAudio, let period else { throw .changed }
    try input.rewind()
    roundLeft = period
    roundHasAudio = false
  }
}
