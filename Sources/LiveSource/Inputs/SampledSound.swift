import Codecs
import FileSource
import Media

/// The sound of a file of samples, mixed to two channels at most and made 48 kHz.
final class SampledSound: SoundInput {
  private let file: SoundFile
  private let mix: ChannelMix
  private var resampler: Resampler?
  private var queue: SoundQueue
  /// Ticks that the whole file makes, and those that have come.
  private let length: Int64
  private var made: Int64 = 0
  private var isOver = false

  /// Samples of each channel read at once.
  private static let chunk = 4_096

  init(_ open: OpenFile, length: Int64) throws(InputRefusal) {
    file = try SoundFile(open)
    mix = ChannelMix(channels: file.traits.channels)
    queue = SoundQueue(channels: mix.outputs)
    self.length = length
    resampler = try Self.resampler(file.traits.rate, mix)
  }

  func read(_ count: Int) throws(InputRefusal) -> Sound {
    while queue.count < count, !isOver { readMore() }
    return queue.take(count)
  }

  func rewind() throws(InputRefusal) {
    try file.rewind()
    resampler = try Self.resampler(file.traits.rate, mix)
    queue = SoundQueue(channels: mix.outputs)
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

  /// Adds what was made, as far as the file's length in ticks allows.
  private func append(_ samples: [Float]) {
    let ticks = min(Int64(samples.count / mix.outputs), length - made)
    guard ticks > 0 else { return }
    made += ticks
    queue.append(samples: samples.prefix(Int(ticks) * mix.outputs))
  }

  private static func resampler(_ rate: Int, _ mix: ChannelMix) throws(InputRefusal) -> Resampler? {
    rate == Sound.rate ? nil : try Resampler(rate: rate, channels: mix.outputs)
  }

  /// Checks a file of samples.
  static func check(_ open: OpenFile) throws(InputRefusal) -> CheckedSound {
    let file = try SoundFile(open)
    let traits = file.traits
    let frames = traits.isPlain ? traits.frames : try count(file)
    guard frames > 0 else { throw InputRefusal("no sound is in it") }
    let length = Resampler.ticks(of: frames, rate: traits.rate)
    let mix = ChannelMix(channels: traits.channels)
    let channels =
      switch traits.channels {
      case 1: "mono"
      case 2: "stereo"
      default: "\(traits.channels) channels mixed to two"
      }
    let parts = [traits.container, "\(traits.rate) Hz", channels, traits.samples]
    var remarks: [String] = []
    if try isCutOff(open) { remarks.append("It is cut off; what is there is played.") }
    return CheckedSound(
      summary: parts.filter { !$0.isEmpty }.joined(separator: ", "), channels: mix.outputs,
      extent: .range(0..<length * FileTime.units(perTickOf: .audio)), remarks: remarks,
      open: { _ throws(InputRefusal) in try SampledSound(open, length: length) })
  }

  /// Counts what a compressed file holds, because its header can say anything.
  private static func count(_ file: SoundFile) throws(InputRefusal) -> Int64 {
    var frames: Int64 = 0
    let most = FileTime.latestHours * 3_600 * Int64(file.traits.rate)
    while frames < most {
      let samples = file.read(chunk)
      if samples.isEmpty { return frames }
      frames += Int64(samples.count / file.traits.channels)
    }
    throw InputRefusal("its sound is longer than \(FileTime.latestHours) h")
  }

  /// Whether a RIFF header promises more than there is. What a live writer puts there promises nothing.
  private static func isCutOff(_ open: OpenFile) throws(InputRefusal) -> Bool {
    let head = try refusing { () throws(MediaFile.Refusal) in try open.beginning(8) }
    guard head.count == 8, head.starts(with: Array("RIFF".utf8)) else { return false }
    let promised = head[4...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return promised < 0x7fff_f000 && promised + 8 > open.size
  }
}
