import Codecs
import FileSource
import Media

/// The audio of a WAV, FLAC or Ogg Vorbis file, mixed to at most two channels and resampled to 48 kHz.
final class SampledAudio: AudioInput {
  private let file: SampleFile
  private let mix: ChannelMix
  private var resampler: Resampler?
  private var queue: AudioQueue
  /// The ticks of the whole file, and those output so far.
  private let length: Int64
  private var made: Int64 = 0
  private var isOver = false

  /// The number of samples of each channel that are read at once.
  private static let chunk = 4_096

  init(_ open: OpenFile, length: Int64) throws(InputError) {
    file = try SampleFile(open)
    mix = ChannelMix(channels: file.traits.channels)
    queue = AudioQueue(channels: mix.outputs)
    self.length = length
    resampler = try Self.resampler(file.traits.rate, mix)
  }

  func read(_ count: Int) throws(InputError) -> AudioSamples {
    while queue.count < count, !isOver { readMore() }
    return queue.take(count)
  }

  func rewind() throws(InputError) {
    try file.rewind()
    resampler = try Self.resampler(file.traits.rate, mix)
    queue = AudioQueue(channels: mix.outputs)
    made = 0
    isOver = false
  }

  private func readMore() {
    let samples = mix.mix(file.read(Self.chunk))
    if !samples.isEmpty {
      append(resampler?.process(samples) ?? samples)
    } else {
      if let resampler { append(resampler.finish()) }
      isOver = true
    }
  }

  /// Appends output, up to the file's length in ticks.
  private func append(_ samples: [Float]) {
    let ticks = min(Int64(samples.count / mix.outputs), length - made)
    guard ticks > 0 else { return }
    made += ticks
    queue.append(samples: samples.prefix(Int(ticks) * mix.outputs))
  }

  private static func resampler(_ rate: Int, _ mix: ChannelMix) throws(InputError) -> Resampler? {
    rate == AudioSamples.rate ? nil : try Resampler(rate: rate, channels: mix.outputs)
  }

  /// Checks an audio file.
  static func check(_ open: OpenFile) throws(InputError) -> CheckedAudio {
    let file = try SampleFile(open)
    let traits = file.traits
    let frames = traits.isPlain ? traits.frames : try count(file)
    guard frames > 0 else { throw InputError("it has no audio") }
    let length = Resampler.ticks(of: frames, rate: traits.rate)
    let mix = ChannelMix(channels: traits.channels)
    let channels =
      switch traits.channels {
      case 1: "mono"
      case 2: "stereo"
      default: "\(traits.channels) channels mixed to two"
      }
    let parts = [traits.container, "\(traits.rate) Hz", channels, traits.samples]
    var notes: [String] = []
    if traits.isStreamed { notes.append("Its header states no length; it is played to the end of the file.") }
    if try isCutOff(open) { notes.append("It is truncated; the samples that exist are played.") }
    return CheckedAudio(
      summary: parts.filter { !$0.isEmpty }.joined(separator: ", "), channels: mix.outputs,
      extent: .range(0..<length * MediaTimebase.units(perTickOf: .audio)), notes: notes,
      open: { _ throws(InputError) in try SampledAudio(open, length: length) })
  }

  /// Counts the samples of a compressed file, because its header may be wrong.
  private static func count(_ file: SampleFile) throws(InputError) -> Int64 {
    var frames: Int64 = 0
    let most = MediaTimebase.latestHours * 3_600 * Int64(file.traits.rate)
    while frames < most {
      let samples = file.read(chunk)
      if samples.isEmpty { return frames }
      frames += Int64(samples.count / file.traits.channels)
    }
    throw InputError("its audio is longer than \(MediaTimebase.latestHours) h")
  }

  /// Whether a RIFF header states a larger size than the file has. The placeholder of a live writer is no such
  /// statement.
  private static func isCutOff(_ open: OpenFile) throws(InputError) -> Bool {
    let head = try refusing { () throws(MediaFile.ReadError) in try open.beginning(8) }
    guard head.count == 8, head.starts(with: Array("RIFF".utf8)) else { return false }
    let promised = head[4...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return promised < 0x7fff_f000 && promised + 8 > open.size
  }
}
